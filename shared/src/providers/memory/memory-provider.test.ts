import { expect } from 'chai'
import { FakeClock } from '../../../testing/fake-clock.ts'
import { describeProviderContract, type ContractSubject } from '../../../testing/provider-contract.ts'
import type { DiskRef } from '../../claims/disk.ts'
import { ProviderError } from '../provider-error.ts'
import { MemoryProvider } from './memory-provider.ts'
import { tagsPerDisk } from './normalize.ts'

describeProviderContract('memory', (): ContractSubject => {
  const clock = new FakeClock()
  const provider = new MemoryProvider({ clock, knownDisksOnly: true })
  const throttleRetryAfterMs = 3_000
  let disks = 0
  return {
    provider,
    clock,
    throttleRetryAfterMs,
    addDisk(tags) {
      const id = `disk-${++disks}`
      provider.addDisk(id, tags)
      return { id }
    },
    missingDisk: () => ({ id: `missing-${++disks}` }),
    tagsOf: ({ id }) => provider.tagsOf(id),
    setByHand: ({ id }, key, value) => provider.setByHand(id, key, value),
    deny: ({ id }) => provider.failNext(new ProviderError('denied', 'not yours'), { disk: id, method: 'applyChanges' }),
    fill({ id }) {
      for (let i = 0; Object.keys(provider.tagsOf(id)).length < tagsPerDisk; i++)
        provider.setByHand(id, `foreign-${i}`, 'x')
    },
    failNext(failure, call) {
      const error =
        failure === 'throttled'
          ? new ProviderError('throttled', 'slow down', { retryAfterMs: throttleRetryAfterMs })
          : new ProviderError('unavailable', 'no answer', { outcomeUnknown: failure === 'lost-answer' })
      if (call === 'read') {
        provider.failNext(error)
      } else {
        provider.failNext(error, { method: 'applyChanges', afterWrite: failure === 'lost-answer' })
      }
    },
    calls: () => Object.values(provider.calls).reduce((sum, count) => sum + count, 0),
    stop() {
      expect(clock.pendingTimers).to.equal(0)
    },
  }
})

const options = { signal: new AbortController().signal, lane: 'fresh' } as const

async function idsListed(provider: MemoryProvider, disks: readonly DiskRef[]): Promise<string[]> {
  const ids: string[] = []
  for await (const { disk } of provider.listTags(disks, options)) ids.push(disk.id)
  return ids
}

describe('MemoryProvider', () => {
  it('has every disk as soon as somebody asks for it, but for one that was removed', async () => {
    const provider = new MemoryProvider({ clock: new FakeClock() })

    await provider.applyChanges({ id: 'a' }, { set: new Map([['k', 'v']]), remove: new Map() }, undefined, options)
    const listed = await idsListed(provider, [{ id: 'a' }, { id: 'b' }])
    provider.removeDisk('b')
    const left = await idsListed(provider, [{ id: 'a' }, { id: 'b' }])

    expect(listed).to.deep.equal(['a', 'b'])
    expect(left).to.deep.equal(['a'])
    expect(provider.tagsOf('a')).to.deep.equal({ k: 'v' })
  })

  it('takes its time by the clock, and the write is there at the end of it', async () => {
    const clock = new FakeClock()
    const provider = new MemoryProvider({ clock, latencyMs: 100 })

    const write = provider.applyChanges(
      { id: 'a' },
      { set: new Map([['k', 'v']]), remove: new Map() },
      undefined,
      options,
    )
    await clock.step(99)
    const tooEarly = provider.tagsOf('a')
    await clock.step(1)
    await write

    expect(tooEarly).to.deep.equal({})
    expect(provider.tagsOf('a')).to.deep.equal({ k: 'v' })
  })

  it('fails the next call in the scope that was asked for, once, and counts it', async () => {
    const provider = new MemoryProvider({ clock: new FakeClock() })
    const error = new ProviderError('conflict', 'raced')
    provider.failNext(error, { method: 'getTags', disk: 'b' })

    await provider.getTags({ id: 'a' }, options)
    const failed = await provider.getTags({ id: 'b' }, options).catch((reason: unknown) => reason)
    await provider.getTags({ id: 'b' }, options)

    expect(failed).to.equal(error)
    expect(provider.calls).to.deep.equal({ getTags: 3, applyChanges: 0, listTags: 0 })
  })

  it('keeps what it answered, whatever happens to the disk afterwards', async () => {
    const provider = new MemoryProvider({ clock: new FakeClock() })
    provider.addDisk('a', { k: 'before' })

    const { tags } = await provider.getTags({ id: 'a' }, options)
    provider.setByHand('a', 'k', 'after')

    expect(tags.get('k')).to.equal('before')
  })
})
