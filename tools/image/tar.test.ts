import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import fc from 'fast-check'
import { readTar, tarOf, type TarEntry } from './tar.ts'

function file(path: string, content: string | Buffer = 'x', mode = 0o644): TarEntry {
  return { kind: 'file', path, mode, content: Buffer.from(content) }
}

describe('a tar archive', () => {
  it('is what tar itself reads: names, modes, owner, links', () => {
    const archive = tarOf([
      file('bin/node', 'binary', 0o755),
      { kind: 'folder', path: 'tmp', mode: 0o1777 },
      { kind: 'folder', path: 'bin', mode: 0o755 },
      { kind: 'link', path: 'bin/command', target: '../app/command.js' },
    ])

    const listed = execFileSync('tar', ['--list', '--verbose', '--numeric-owner', '--utc'], {
      input: archive,
      encoding: 'utf8',
    })

    expect(
      listed
        .trim()
        .split('\n')
        .map((line) => line.replaceAll(/\s+/gu, ' ')),
    ).to.deep.equal([
      'drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/command -> ../app/command.js',
      '-rwxr-xr-x 0/0 6 1970-01-01 00:00 bin/node',
      'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
    ])
  })

  it('does not depend on the order in which files were found', () => {
    const entries = [file('b', '2'), file('a', '1'), file('a/c', '3')]

    expect(tarOf(entries).equals(tarOf(entries.toReversed()))).to.equal(true)
  })

  it('gives back what was put in, whatever its size', () => {
    const path = fc.array(fc.stringMatching(/^[a-z0-9._-]{1,40}$/u), { minLength: 1, maxLength: 5 })
    const names = path.map((parts) => parts.join('/')).filter((name) => !/(?:^|\/)\.+(?:\/|$)/u.test(name))
    fc.assert(
      fc.property(fc.uniqueArray(names, { maxLength: 8 }), fc.uint8Array({ maxLength: 1500 }), (paths, bytes) => {
        const entries = paths.sort().map((name) => file(name, Buffer.from(bytes)))

        expect(readTar(tarOf(entries))).to.deep.equal(entries)
      }),
    )
  })

  it('refuses one path twice, and a name that does not fit', () => {
    expect(() => tarOf([file('a'), file('a')])).to.throw('a is in the archive twice')
    expect(() => tarOf([file('x'.repeat(101))])).to.throw('too long')
  })
})
