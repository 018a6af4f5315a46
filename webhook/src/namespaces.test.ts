import { expect } from 'chai'
import { KubernetesError } from '@k8s-cloud-tagger/shared/kubernetes/kubernetes-error.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import type { ApiTransport } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import type { ClusterReader } from '@k8s-cloud-tagger/shared/tagger/ports.ts'
import { FakeClock, settle } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { CapturedLog } from '@k8s-cloud-tagger/shared/testing/programs/captured-log.ts'
import { Namespaces } from './namespaces.ts'

function namespace(name: string, labels: Readonly<Record<string, string>> = {}) {
  const metadata = {
    name,
    uid: `uid-of-${name}`,
    resourceVersion: '1',
    labels,
    creationTimestamp: '2026-01-01T00:00:00Z',
  }
  return { kind: 'Namespace', metadata }
}

describe('Namespaces', () => {
  let clock: FakeClock
  let log: CapturedLog
  let lookUps: string[]
  /** What a GET resolves to; never, where it is undefined. */
  let answer: (() => Promise<NamespaceInfo | undefined>) | undefined
  let events: ((line: object) => void) | undefined
  let listed: object[]
  /** Whether the API server hangs. */
  let silent: boolean
  let namespaces: Namespaces

  const live: ClusterReader = {
    claim: () => Promise.resolve(undefined),
    volume: () => Promise.resolve(undefined),
    namespace: (name, { signal }) => {
      lookUps.push(name)
      return (
        answer?.() ?? new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      )
    },
  }
  const connection: ApiTransport = {
    send: () => Promise.resolve({}),
    async openStream({ signal }) {
      if (silent) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      const lines: object[] = []
      let wake = () => {}
      events = (line) => {
        lines.push(line)
        wake()
      }
      signal.addEventListener('abort', () => wake())
      return (async function* () {
        while (!signal.aborted) {
          const line = lines.shift()
          if (line !== undefined) yield Buffer.from(`${JSON.stringify(line)}\n`)
          else await new Promise<void>((resolve) => (wake = resolve))
        }
      })()
    },
  }

  beforeEach(() => {
    clock = new FakeClock()
    log = new CapturedLog()
    lookUps = []
    answer = undefined
    listed = []
    silent = false
    const api = { call: () => Promise.resolve({ metadata: { resourceVersion: '5' }, items: listed }) }
    namespaces = new Namespaces({ api, connection, reader: live, clock, random: { next: () => 0.5 }, logger: log })
  })

  afterEach(async () => {
    await namespaces.stop()
    expect(clock.pendingTimers).to.equal(0)
  })

  async function started(): Promise<void> {
    namespaces.start()
    for (let i = 0; i < 50 && events === undefined; i++) await settle()
    await settle()
  }

  it('are not ready before all have been read, and answer without a call from then on', async () => {
    listed = [namespace('db', { team: 'core' })]
    expect(namespaces.notReady).to.equal('webhook: namespaces are not all read yet')

    await started()

    expect(namespaces.notReady).to.equal(undefined)
    expect((await namespaces.find('db'))?.labels).to.deep.equal({ team: 'core' })
    expect(lookUps).to.deep.equal([])
  })

  it('follow what changes', async () => {
    listed = [namespace('db', { team: 'core' })]
    await started()
    const changed = namespace('db', { team: 'data' })

    events?.({ type: 'MODIFIED', object: { ...changed, metadata: { ...changed.metadata, resourceVersion: '6' } } })
    await settle()

    expect((await namespaces.find('db'))?.labels).to.deep.equal({ team: 'data' })
  })

  it('look a new one up, once for all who ask meanwhile', async () => {
    await started()
    answer = async () => ({ name: 'new', uid: 'u', resourceVersion: '7', labels: { team: 'core' }, deleting: false })

    const found = await Promise.all([namespaces.find('new'), namespaces.find('new')])

    expect(found.map((each) => each?.labels)).to.deep.equal([{ team: 'core' }, { team: 'core' }])
    expect(lookUps).to.deep.equal(['new'])
  })

  it('wait half a second for it, no longer, and give the call up', async () => {
    await started()
    let found: NamespaceInfo | undefined | 'waiting' = 'waiting'
    const finding = namespaces.find('new').then((each) => (found = each))

    await clock.step(499)
    expect(found).to.equal('waiting')
    await clock.step(1)
    await finding

    expect(found).to.equal(undefined)
  })

  it('answer without one that cannot be looked up, and try again for the next review', async () => {
    await started()
    answer = () => Promise.reject(new KubernetesError('unavailable', 'no answer'))

    expect([await namespaces.find('new'), await namespaces.find('new')]).to.deep.equal([undefined, undefined])
    expect(lookUps).to.deep.equal(['new', 'new'])
    expect(log.at('warn')).to.deep.equal([])
  })

  it('look up only so many: whoever asks may make names up', async () => {
    await started()
    answer = () => Promise.resolve(undefined)

    for (let i = 0; i < 200; i++) await namespaces.find(`made-up-${i}`)
    expect(lookUps).to.have.length(50)

    await clock.step(1000)
    for (let i = 0; i < 200; i++) await namespaces.find(`made-up-${i}`)
    expect(lookUps).to.have.length(60)
  })

  it('read for the workers from what is known, and live what is not', async () => {
    listed = [namespace('db', { team: 'core' })]
    await started()
    const reader = namespaces.readerOver(live)
    answer = () => Promise.resolve(undefined)
    const options = { signal: new AbortController().signal, priority: 'foreground' } as const

    expect((await reader.namespace('db', options))?.labels).to.deep.equal({ team: 'core' })
    expect(await reader.namespace('new', options)).to.equal(undefined)
    expect(lookUps).to.deep.equal(['new'])
  })

  it('are beyond help when five minutes bring no sign of life', async () => {
    await started()
    silent = true

    await clock.step(299_000)
    expect(namespaces.stuck).to.equal(undefined)
    await clock.step(2_000)

    expect(namespaces.stuck).to.equal('watch of namespaces: nothing heard for 301 s')
  })
})
