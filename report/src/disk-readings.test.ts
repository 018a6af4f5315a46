import { ProviderError } from '@k8s-cloud-tagger/shared/providers/provider-error.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { expect } from 'chai'
import { readDisks } from './disk-readings.ts'
import type { DiskReading } from './disk-readings.ts'

/** A cloud of scopes, by the first part of a disk's id; what `fail` throws is what that scope's page fails with. */
class Scopes {
  readonly calls: (readonly string[])[] = []
  fail: (scope: string) => void = () => {}
  readonly #known: ReadonlySet<string>

  constructor(known: readonly string[]) {
    this.#known = new Set(known)
  }

  scopeOf({ id }: { readonly id: string }): string {
    return id.split('/')[0] ?? ''
  }

  async *listTags(disks: readonly { readonly id: string }[]) {
    this.calls.push(disks.map(({ id }) => id))
    for (const disk of disks) {
      this.fail(this.scopeOf(disk))
      if (this.#known.has(disk.id)) yield { disk, observed: { tags: new Map([['seen', disk.id]]) } }
    }
  }
}

function kinds(readings: ReadonlyMap<string, DiskReading>): Record<string, string> {
  return Object.fromEntries(
    [...readings].map(([id, each]) => [id, each.kind === 'failed' ? `${each.kind} ${each.error}` : each.kind]),
  )
}

describe('readDisks', () => {
  const clock = new FakeClock()
  const { signal } = new AbortController()

  it('reads all disks in one go, and tells those that no answer named', async () => {
    const provider = new Scopes(['a/1', 'b/1'])
    const progress: number[] = []

    const readings = await readDisks(['a/1', 'b/1', 'b/2', 'a/1'], {
      provider,
      clock,
      signal,
      onProgress: (done) => void progress.push(done),
    })

    expect(kinds(readings)).to.deep.equal({ 'a/1': 'tags', 'b/1': 'tags', 'b/2': 'missing' })
    expect(provider.calls).to.deep.equal([['a/1', 'b/1', 'b/2']])
    expect(progress.at(-1)).to.equal(3)
  })

  it('asks nobody where there is nothing to ask for', async () => {
    const provider = new Scopes([])

    expect((await readDisks([], { provider, clock, signal })).size).to.equal(0)
  })

  it('loses only the scope that is denied', async () => {
    const provider = new Scopes(['a/1', 'b/1', 'c/1'])
    provider.fail = (scope) => {
      if (scope === 'b') throw new ProviderError('denied', 'not yours')
    }

    const readings = await readDisks(['a/1', 'b/1', 'c/1'], { provider, clock, signal })

    expect(kinds(readings)).to.deep.equal({ 'a/1': 'tags', 'b/1': 'failed denied', 'c/1': 'tags' })
    expect(readings.get('b/1')).to.deep.include({ scope: 'b', message: 'not yours' })
    expect(provider.calls).to.deep.equal([['a/1', 'b/1', 'c/1'], ['b/1'], ['c/1']])
  })

  it('does not ask a single scope that is denied again', async () => {
    const provider = new Scopes(['a/1'])
    provider.fail = () => {
      throw new ProviderError('denied', 'not yours')
    }

    const readings = await readDisks(['a/1', 'a/2'], { provider, clock, signal })

    expect(kinds(readings)).to.deep.equal({ 'a/1': 'failed denied', 'a/2': 'failed denied' })
    expect(provider.calls).to.have.length(1)
  })

  it('waits out what passes, and asks only for what it does not have', async () => {
    const provider = new Scopes(['a/1', 'a/2', 'b/1'])
    let failures = 1
    provider.fail = (scope) => {
      if (scope === 'b' && failures-- > 0) throw new ProviderError('throttled', 'slow down', { retryAfterMs: 5000 })
    }

    const reading = readDisks(['a/1', 'a/2', 'b/1'], { provider, clock, signal })
    await clock.step(4999)
    expect(provider.calls).to.have.length(1)
    await clock.step(1)

    expect(kinds(await reading)).to.deep.equal({ 'a/1': 'tags', 'a/2': 'tags', 'b/1': 'tags' })
    expect(provider.calls.at(-1)).to.deep.equal(['b/1'])
  })

  it('gives up on what does not pass, and keeps what it has', async () => {
    const provider = new Scopes(['a/1'])
    provider.fail = (scope) => {
      if (scope === 'b') throw new ProviderError('unavailable', 'no answer')
    }

    const reading = readDisks(['a/1', 'b/1'], { provider, clock, signal })
    for (let i = 0; i < 10; i++) await clock.step(10_000)

    expect(kinds(await reading)).to.deep.equal({ 'a/1': 'tags', 'b/1': 'failed unavailable' })
    expect(provider.calls).to.have.length(4)
  })

  it('ends when it is told to', async () => {
    const abort = new AbortController()
    const provider = new Scopes([])
    provider.fail = () => {
      abort.abort(new Error('enough'))
      throw new ProviderError('unavailable', 'not sent')
    }

    const error: unknown = await readDisks(['a/1'], { provider, clock, signal: abort.signal }).catch((e: unknown) => e)

    expect(error).to.have.property('message', 'enough')
  })
})
