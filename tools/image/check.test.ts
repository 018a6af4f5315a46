import { expect } from 'chai'
import { readFile } from 'node:fs/promises'
import { brokenPromises, neededLibraries } from './check.ts'
import type { TarEntry } from './tar.ts'

function elf(machine: number): Buffer {
  const content = Buffer.alloc(128)
  content.writeUInt32BE(0x7f454c46, 0)
  content.writeUInt16LE(machine, 18)
  return content
}

const arm64 = elf(183)
const whole: readonly TarEntry[] = [
  { kind: 'file', path: 'usr/bin/node', mode: 0o755, content: arm64 },
  { kind: 'link', path: 'usr/bin/k8s-cloud-tagger', target: '../../app/k8s-cloud-tagger.js' },
  { kind: 'file', path: 'app/k8s-cloud-tagger.js', mode: 0o755, content: Buffer.from('#!/usr/bin/node\n') },
  { kind: 'file', path: 'etc/passwd', mode: 0o644, content: Buffer.from('') },
  { kind: 'file', path: 'usr/lib/libc.so.6', mode: 0o755, content: arm64 },
  { kind: 'folder', path: 'tmp', mode: 0o1777 },
]

describe('the promises of the image', () => {
  it('hold for Node, its libraries, our files and nothing else', () => {
    expect(brokenPromises(whole, 'arm64')).to.deep.equal([])
  })

  const faults = [
    ['a shell', { kind: 'file', path: 'bin/sh', mode: 0o755, content: arm64 }, 'bin/sh is a program'],
    [
      'a library of another architecture',
      { kind: 'file', path: 'usr/lib/x.so', mode: 0o644, content: elf(62) },
      'usr/lib/x.so is not for arm64',
    ],
    [
      'a file that everybody may change',
      { kind: 'file', path: 'etc/x', mode: 0o666, content: Buffer.from('') },
      'everybody may write to etc/x',
    ],
    [
      'a program that changes its user',
      { kind: 'file', path: 'usr/lib/y.so', mode: 0o4755, content: arm64 },
      'usr/lib/y.so changes its user',
    ],
  ] as const
  for (const [what, entry, complaint] of faults) {
    it(`are broken by ${what}`, () => {
      expect(brokenPromises([...whole, entry], 'arm64')).to.deep.equal([complaint])
    })
  }

  it('are broken where the command is missing', () => {
    const without = whole.filter(({ path }) => path !== 'usr/bin/k8s-cloud-tagger')

    expect(brokenPromises(without, 'arm64')).to.deep.equal(['usr/bin/k8s-cloud-tagger is missing'])
  })

  it('know what a real program is linked with', async () => {
    const libraries = process.platform === 'linux' ? neededLibraries(await readFile(process.execPath)) : ['libc.so.6']

    expect(libraries).to.include('libc.so.6')
  })
})
