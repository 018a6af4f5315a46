import { expect } from 'chai'
import { lockedPackage, packageFolderOf, packageNameOf } from './package-lock.ts'

describe('a source file of the bundle', () => {
  const cases = [
    ['node_modules/undici/lib/a.js', 'node_modules/undici', 'undici'],
    ['node_modules/@smithy/core/dist/index.js', 'node_modules/@smithy/core', '@smithy/core'],
    ['node_modules/a/node_modules/@b/c/x.js', 'node_modules/a/node_modules/@b/c', '@b/c'],
    ['shared/node_modules/d/x.js', 'shared/node_modules/d', 'd'],
  ] as const
  for (const [file, folder, name] of cases) {
    it(`belongs to the package whose folder it lies in: ${file}`, () => {
      expect(packageFolderOf(file)).to.equal(folder)
      expect(packageNameOf(folder)).to.equal(name)
    })
  }

  it('belongs to no package where it is our own', () => {
    expect(packageFolderOf('shared/src/tags/tag-set.ts')).to.equal(undefined)
  })

  it('must be pinned', () => {
    const lock = { packages: { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-x', license: 'MIT' } } }

    expect(lockedPackage(lock, 'node_modules/a')).to.deep.equal({
      version: '1.0.0',
      integrity: 'sha512-x',
      license: 'MIT',
    })
    expect(() => lockedPackage(lock, 'node_modules/b')).to.throw('does not pin node_modules/b')
  })
})
