import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { ApiQuery } from './api-request.ts'
import type { ListWatchSource } from './collection-source.ts'
import type { Decoded } from './decode.ts'
import { asObject, objectAt, stringAt } from './json.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

interface Thing {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

function thing(name: string, resourceVersion: string, uid = `uid-${name}`): object {
  return { metadata: { name, uid, resourceVersion } }
}

function decodeThing(object: unknown): Decoded<Thing> {
  const metadata = objectAt(asObject(object), 'metadata')
  const name = stringAt(metadata, 'name')
  const uid = stringAt(metadata, 'uid')
  const resourceVersion = stringAt(metadata, 'resourceVersion')
  if (name === undefined || uid === undefined || resourceVersion === undefined) return { ok: false, reason: 'odd' }
  return { ok: true, value: { name, uid, resourceVersion } }
}

function page(version: string, items: readonly object[], next?: string): object {
  return { metadata: { resourceVersion: version, ...(next === undefined ? {} : { continue: next }) }, items }
}

/** One open watch, played by the test. */
class Stream {
  readonly query: ApiQuery
  readonly #chunks: (Uint8Array | Error | undefined)[] = []
  #wake: () => void = () => {}

  constructor(query: ApiQuery, signal: AbortSignal) {
    this.query = query
    signal.addEventListener('abort', () => this.cut('aborted'))
  }

  text(text: string): void {
    this.#push(Buffer.from(text))
  }

  event(type: string, object: object): void {
    this.text(`${JSON.stringify({ type, object })}\n`)
  }

  end(): void {
    this.#push(undefined)
  }

  cut(reason = 'terminated'): void {
    this.#push(new KubernetesError('unavailable', reason))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      while (this.#chunks.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
      const chunk = this.#chunks.shift()
      if (chunk instanceof Error) throw chunk
      if (chunk === undefined) return
      yield chunk
    }
  }

  #push(chunk: Uint8Array | Error | undefined): void {
    this.#chunks.push(chunk)
    this.#wake()
  }
}

/** A server whose lists are scripted and whose watches are played by the test. Lists beyond the script never answer. */
class ScriptedSource implements ListWatchSource {
  readonly lists: ApiQuery[] = []
  readonly watches: (Stream | KubernetesError)[] = []
  readonly watchQueries: ApiQuery[] = []
  readonly #pages: (object | KubernetesError)[]
  #watchErrors: KubernetesError[] = []

  constructor(...pages: (object | KubernetesError)[]) {
    this.#pages = pages
  }

  get latest(): Stream {
    const stream = this.watches.at(-1)
    if (!(stream instanceof Stream)) throw new Error('no watch is open')
    return stream
  }

  addPages(...pages: (object | KubernetesError)[]): void {
    this.#pages.push(...pages)
  }

  refuseWatches(...errors: KubernetesError[]): void {
    this.#watchErrors = errors
  }

  async list(query: ApiQuery, signal: AbortSignal): Promise<unknown> {
    this.lists.push(query)
    const next = this.#pages.shift()
    if (next instanceof Error) throw next
    if (next !== undefined) return next
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new KubernetesError('unavailable', 'given up')))
    })
  }

  async watch(query: ApiQuery, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.watchQueries.push(query)
    const error = this.#watchErrors.shift()
    if (error !== undefined) throw error
    const stream = new Stream(query, signal)
    this.watches.push(stream)
    return stream
  }
}

function startOn(source: ScriptedSource, options: Partial<ReflectorOptions<Thing>> = {}) {
  const clock = new FakeClock()
  const heard: string[] = []
  const reflector = new Reflector<Thing>({
    name: 'things',
    source,
    decode: decodeThing,
    store: {
      onAdd: ({ name, resourceVersion }) => heard.push(`add ${name}@${resourceVersion}`),
      onUpdate: ({ name, resourceVersion }, previous) =>
        heard.push(`update ${name}@${previous.resourceVersion}→${resourceVersion}`),
      onDelete: ({ name, uid }) => heard.push(`delete ${name} ${uid}`),
      onSynced: () => heard.push('synced'),
    },
    clock,
    random: { next: () => 0 },
    logger: silentLogger,
    ...options,
  })
  reflector.start()
  return { clock, heard, reflector, source }
}

const unavailable = new KubernetesError('unavailable', '500: oops', { status: 500 })
const gone = new KubernetesError('gone', '410: too old', { status: 410 })

describe('Reflector', () => {
  it('hands over every object of a paged list before it is synced', async () => {
    const source = new ScriptedSource(
      page('10', [thing('a', '1'), thing('b', '2')], 'token-1'),
      page('10', [thing('c', '3')]),
    )

    const { heard, reflector } = startOn(source)
    await settle()

    expect(heard).to.deep.equal(['add a@1', 'add b@2', 'add c@3', 'synced'])
    expect(source.lists).to.deep.equal([
      { limit: 500, continue: undefined },
      { limit: 500, continue: 'token-1' },
    ])
    expect(reflector.status).to.include({ synced: true, objects: 3, restarts: 0 })
    await reflector.stop()
  })

  it('watches from the version of the list, with bookmarks and a limited time', async () => {
    const { source, reflector } = startOn(new ScriptedSource(page('10', [])), { random: { next: () => 0.999 } })
    await settle()

    expect(source.latest.query).to.deep.equal({ resourceVersion: '10', allowWatchBookmarks: true, timeoutSeconds: 600 })
    await reflector.stop()
  })

  it('tells additions, updates and deletions apart by what it knows', async () => {
    const { source, heard, reflector } = startOn(new ScriptedSource(page('10', [thing('a', '1')])))
    await settle()
    heard.length = 0

    source.latest.event('ADDED', thing('b', '11'))
    source.latest.event('MODIFIED', thing('a', '12'))
    source.latest.event('MODIFIED', thing('c', '13'))
    source.latest.event('DELETED', thing('b', '14'))
    source.latest.event('ADDED', thing('a', '12'))
    await settle()

    expect(heard).to.deep.equal(['add b@11', 'update a@1→12', 'add c@13', 'delete b uid-b'])
    await reflector.stop()
  })

  it('reports an object made again under its name as deleted and added', async () => {
    const { source, heard, reflector } = startOn(new ScriptedSource(page('10', [thing('a', '1', 'old')])))
    await settle()
    heard.length = 0

    source.latest.event('ADDED', thing('a', '11', 'new'))
    source.latest.event('DELETED', thing('a', '12', 'old'))
    await settle()

    expect(heard).to.deep.equal(['delete a old', 'add a@11'])
    await reflector.stop()
  })

  it('opens a silent watch anew, from the last bookmark', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()
    await clock.step(100_000)
    source.latest.event('BOOKMARK', { kind: 'Thing', metadata: { resourceVersion: '20' } })
    await settle()

    await clock.step(119_000)
    expect(source.watches).to.have.length(1)
    await clock.step(3_000)

    expect(source.latest.query['resourceVersion']).to.equal('20')
    expect(source.watches).to.have.length(2)
    expect(source.lists).to.have.length(1)
    await reflector.stop()
  })

  it('takes a resource on which nothing happens for no fault, bookmarks or none', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()

    await clock.step(1_000_000)

    expect(source.watches).to.have.length(9)
    expect(reflector.status.restarts).to.equal(0)
    expect(reflector.status.lastEventAgeMs).to.be.at.most(120_000)
    await reflector.stop()
  })

  it('shows by the age of the last event that the server is gone', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()
    source.refuseWatches(...Array.from({ length: 1_000 }, () => unavailable))

    await clock.step(600_000)

    expect(reflector.status.lastEventAgeMs).to.equal(600_000)
    await reflector.stop()
  })

  it('stays on a quiet watch for as long as bookmarks come', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()

    for (let minute = 0; minute < 9; minute++) {
      await clock.step(60_000)
      source.latest.event('BOOKMARK', { metadata: { resourceVersion: String(11 + minute) } })
      await settle()
    }

    expect(source.watches).to.have.length(1)
    expect(reflector.status).to.include({ restarts: 0, lastEventAgeMs: 0, lastListAgeMs: 540_000 })
    await reflector.stop()
  })

  it('meets a server that answers 500 ever more slowly, never gives up, and does not list again', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    source.refuseWatches(...Array.from({ length: 12 }, () => unavailable))
    const gapsSeconds: number[] = []
    let lastMs = 0
    let seen = 1
    await settle()
    while (source.watches.length === 0) {
      await clock.step(500)
      if (source.watchQueries.length === seen) continue
      seen = source.watchQueries.length
      gapsSeconds.push((clock.monotonicMs() - lastMs) / 1000)
      lastMs = clock.monotonicMs()
    }

    expect(gapsSeconds).to.deep.equal([1, 2, 4, 8, 16, 20, 20, 20, 20, 20, 20, 20])
    expect(source.lists).to.have.length(1)
    expect(reflector.status.restarts).to.equal(12)
    await reflector.stop()
  })

  it('never waits longer than 30 seconds by chance, and starts small again after a healthy watch', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])), { random: { next: () => 0.999 } })
    source.refuseWatches(...Array.from({ length: 8 }, () => unavailable))
    await settle()
    await clock.step(8 * 30_000)
    await clock.step(11_000)
    const before = source.watches.length

    source.latest.cut()
    await clock.step(1_500)

    expect(source.watches.length).to.equal(before + 1)
    await reflector.stop()
  })

  it('resumes a watch that was cut in the middle of a line', async () => {
    const { clock, source, heard, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()
    source.latest.event('ADDED', thing('a', '11'))
    source.latest.text('{"type":"ADDED","object":{"meta')
    source.latest.cut()
    await settle()

    await clock.step(1_000)

    expect(source.latest.query['resourceVersion']).to.equal('11')
    expect(reflector.status.unreadable).to.equal(0)
    expect(heard).to.deep.equal(['synced', 'add a@11'])
    await reflector.stop()
  })

  it('lists again after an ERROR event 410 and reports what changed meanwhile', async () => {
    const { clock, source, heard, reflector } = startOn(
      new ScriptedSource(page('10', [thing('a', '1'), thing('b', '2'), thing('c', '3', 'old')])),
    )
    await settle()
    heard.length = 0
    source.addPages(page('50', [thing('b', '40')], 'token'), page('50', [thing('c', '41', 'new'), thing('d', '42')]))

    source.latest.event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' })
    await clock.step(1_000)

    expect(heard).to.deep.equal(['update b@2→40', 'delete c old', 'add c@41', 'add d@42', 'delete a uid-a'])
    expect(source.latest.query['resourceVersion']).to.equal('50')
    await reflector.stop()
  })

  it('lists again, slowly, when every watch is answered with 410', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    source.refuseWatches(gone, gone, gone)
    source.addPages(page('20', []), page('30', []), page('40', []))
    await settle()

    await clock.step(2_999)
    expect(source.lists).to.have.length(2)
    await clock.step(4_001)

    expect(source.lists).to.have.length(4)
    expect(source.lists.at(-1)).to.deep.equal({ limit: 500, continue: undefined })
    expect(source.latest.query['resourceVersion']).to.equal('40')
    await reflector.stop()
  })

  it('lists soon after an outage at whose end its version is forgotten', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    source.refuseWatches(...Array.from({ length: 6 }, () => unavailable), gone)
    source.addPages(page('20', []))
    await settle()
    await clock.step(51_000)
    expect(source.lists).to.have.length(1)

    await clock.step(1_000)

    expect(source.lists).to.have.length(2)
    await reflector.stop()
  })

  it('goes on from where it was after an ERROR event 500', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()
    source.latest.event('ADDED', thing('a', '11'))

    source.latest.event('ERROR', { kind: 'Status', code: 500, message: 'etcd is away' })
    await clock.step(1_000)

    expect(source.lists).to.have.length(1)
    expect(source.latest.query['resourceVersion']).to.equal('11')
    await reflector.stop()
  })

  it('does not spin on a server that closes each watch at once', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()

    for (let second = 0; second < 60; second++) {
      if (source.watches.length > 0) source.latest.end()
      await clock.step(1_000)
    }

    expect(source.watches.length).to.be.within(5, 7)
    await reflector.stop()
  })

  it('watches again without delay when a watch ended after its time', async () => {
    const { clock, source, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()
    await clock.step(60_000)

    source.latest.end()
    await settle()

    expect(source.watches).to.have.length(2)
    expect(reflector.status.restarts).to.equal(0)
    await reflector.stop()
  })

  it('asks for the list in one piece when its pages expired', async () => {
    const source = new ScriptedSource(page('10', [thing('a', '1')], 'token'), gone, page('20', [thing('b', '2')]))
    const { clock, heard, reflector } = startOn(source)
    await clock.step(1_000)

    expect(source.lists.at(-1)).to.deep.equal({ limit: undefined, continue: undefined })
    expect(heard).to.deep.equal(['add a@1', 'add b@2', 'delete a uid-a', 'synced'])
    await reflector.stop()
  })

  it('tries a list again that failed, and one that is no list', async () => {
    const source = new ScriptedSource(unavailable, { kind: 'Status' }, page('10', [thing('a', '1')]))
    const { clock, heard, reflector } = startOn(source)
    await settle()
    expect(reflector.status.synced).to.be.false

    await clock.step(3_000)

    expect(heard).to.deep.equal(['add a@1', 'synced'])
    await reflector.stop()
  })

  it('waits as long as a 429 asks', async () => {
    const busy = new KubernetesError('throttled', '429: later', { status: 429, retryAfterMs: 25_000 })
    const { clock, source, reflector } = startOn(new ScriptedSource(busy, page('10', [])))

    await clock.step(24_999)
    expect(source.lists).to.have.length(1)
    await clock.step(1)

    expect(source.lists).to.have.length(2)
    await reflector.stop()
  })

  it('survives a handler that throws', async () => {
    const names: string[] = []
    const { source, reflector } = startOn(new ScriptedSource(page('10', [thing('a', '1')])), {
      store: {
        onAdd({ name }) {
          names.push(name)
          throw new Error('handler')
        },
        onUpdate() {},
        onDelete() {},
        onSynced() {
          throw new Error('handler')
        },
      },
    })
    await settle()
    source.latest.event('ADDED', thing('b', '11'))
    await settle()

    expect(names).to.deep.equal(['a', 'b'])
    expect(reflector.status).to.include({ synced: true, restarts: 0 })
    await reflector.stop()
  })

  it('goes on behind a line that is no JSON, and lists again when that watch ends', async () => {
    const { clock, source, heard, reflector } = startOn(new ScriptedSource(page('10', [])))
    await settle()
    source.latest.text('<html>bad gateway</html>\n')
    source.latest.text('{"type":"ADDED"}\n')
    source.latest.event('ADDED', thing('a', '12'))
    await settle()
    expect(heard).to.deep.equal(['synced', 'add a@12'])
    expect(reflector.status.unreadable).to.equal(2)
    source.addPages(page('20', [thing('a', '12'), thing('missed', '11')]))

    await clock.step(50_000)
    source.latest.end()
    await settle()

    expect(heard).to.deep.equal(['synced', 'add a@12', 'add missed@11'])
    await reflector.stop()
  })

  it('keeps what it knew of an object that it cannot read any more', async () => {
    const { clock, source, heard, reflector } = startOn(new ScriptedSource(page('10', [thing('a', '1')])))
    await settle()
    source.addPages(page('20', [{ metadata: { name: 'a', resourceVersion: '15' } }]))

    source.latest.event('MODIFIED', { metadata: { name: 'a', resourceVersion: '11' } })
    source.latest.event('ERROR', { code: 410 })
    await clock.step(1_000)

    expect(heard).to.deep.equal(['add a@1', 'synced'])
    expect(reflector.status).to.include({ objects: 1, unreadable: 2 })
    await reflector.stop()
  })

  it('lists again when a watch ends and the last list is old', async () => {
    const { clock, source, heard, reflector } = startOn(new ScriptedSource(page('10', [])), {
      relistAfterMs: 100_000,
      random: { next: () => 0.5 },
    })
    await settle()
    source.addPages(page('20', [thing('lost', '15')]))
    await clock.step(110_000)

    source.latest.end()
    await settle()

    expect(heard).to.deep.equal(['synced', 'add lost@15'])
    await reflector.stop()
  })

  const moments: { when: string; pages: (object | KubernetesError)[] }[] = [
    { when: 'a list is under way', pages: [] },
    { when: 'a watch is open', pages: [page('10', [])] },
    { when: 'it waits after a fault', pages: [unavailable] },
  ]
  for (const { when, pages } of moments) {
    it(`leaves nothing running when stopped while ${when}`, async () => {
      const { clock, source, reflector } = startOn(new ScriptedSource(...pages))
      await settle()
      const listed = source.lists.length

      await reflector.stop()

      expect(clock.pendingTimers).to.equal(0)
      await clock.step(60_000)
      expect(source.lists).to.have.length(listed)
    })
  }
})
