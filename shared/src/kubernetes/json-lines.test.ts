import { expect } from 'chai'
import fc from 'fast-check'
import { parsedLines } from './json-lines.ts'

async function read(chunks: readonly Uint8Array[]): Promise<unknown[]> {
  async function* source(): AsyncGenerator<Uint8Array> {
    yield* chunks
  }
  const lines: unknown[] = []
  for await (const line of parsedLines(source(), () => {})) lines.push(line)
  return lines
}

describe('parsedLines', () => {
  it('finds the same lines however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json()), fc.array(fc.nat(200)), async (documents, cuts) => {
        const bytes = Buffer.from(documents.map((text) => `${JSON.stringify(JSON.parse(text))}\n`).join(''))
        const chunks: Uint8Array[] = []
        let at = 0
        for (const cut of cuts) chunks.push(bytes.subarray(at, (at += cut)))
        chunks.push(bytes.subarray(at))

        expect(await read(chunks)).to.deep.equal(documents.map((text) => JSON.parse(text) as unknown))
      }),
    )
  })

  it('gives undefined for a line that is no JSON and goes on', async () => {
    expect(await read([Buffer.from('nonsense\n{"a":1}\n')])).to.deep.equal([undefined, { a: 1 }])
  })

  it('drops an unfinished line', async () => {
    expect(await read([Buffer.from('{"a":1}\n{"b":')])).to.deep.equal([{ a: 1 }])
  })

  it('ends on a line without an end', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x')

    const error = await read(Array.from({ length: 17 }, () => megabyte)).catch((reason: unknown) => reason)

    expect(error).to.be.an('error').with.property('message').that.includes('longer than')
  })

  it('counts every chunk as a sign of life', async () => {
    let signs = 0
    async function* source(): AsyncGenerator<Uint8Array> {
      yield* [Buffer.from('{"a"'), Buffer.from(':1}'), Buffer.from('\n')]
    }

    for await (const _ of parsedLines(source(), () => signs++)) expect(signs).to.equal(3)

    expect(signs).to.equal(3)
  })
})
