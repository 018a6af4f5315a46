import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { ApiRequest, ApiTransport } from './api-request.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { LeaseElector } from './lease-elector.ts'

interface StoredLease {
  metadata: { resourceVersion: string; annotations?: Record<string, string> }
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string; leaseTransitions?: number }
}

/** One Lease with the API server's rules for writing it, and a way to take the server away from one client. */
class LeaseServer {
  lease: StoredLease | undefined
  requests = 0
  #version = 0

  clientFor(faults: { failing?: boolean; hanging?: boolean } = {}): ApiTransport & { faults: typeof faults } {
    return {
      faults,
      send: async (request) => {
        this.requests++
        if (faults.hanging === true) return new Promise(() => {})
        if (faults.failing === true) throw new KubernetesError('unavailable', 'no route to host')
        if (request.signal.aborted) throw new KubernetesError('unavailable', 'given up')
        return structuredClone(this.#answer(request))
      },
      openStream: () => Promise.reject(new Error('not asked for')),
    }
  }

  write(change: (lease: StoredLease) => void): void {
    if (this.lease === undefined) throw new Error('there is no lease')
    change(this.lease)
    this.lease.metadata.resourceVersion = String(++this.#version)
  }

  #answer(request: ApiRequest): StoredLease {
    const body = request.body as StoredLease | undefined
    if (request.method === 'POST') {
      if (this.lease !== undefined) throw new KubernetesError('conflict', 'already exists')
      return this.#store(body)
    }
    if (this.lease === undefined) throw new KubernetesError('not-found', '404')
    if (request.method === 'GET') return this.lease
    if (request.method !== 'PUT') throw new Error(`unexpected ${request.method}`)
    if (this.lease.metadata.resourceVersion !== body?.metadata.resourceVersion) {
      throw new KubernetesError('conflict', 'modified')
    }
    return this.#store(body)
  }

  #store(body: StoredLease | undefined): StoredLease {
    if (body === undefined) throw new Error('a body is missing')
    this.lease = structuredClone(body)
    this.lease.metadata.resourceVersion = String(++this.#version)
    return this.lease
  }
}

/** A candidate whose terms are recorded; its work ends when the term does, unless the test holds it. */
function candidate(server: LeaseServer, clock: FakeClock, identity: string) {
  const transport = server.clientFor()
  const elector = new LeaseElector({
    transport,
    namespace: 'kube-system',
    name: 'reconciler',
    identity,
    clock,
    random: { next: () => 0 },
    logger: silentLogger,
  })
  const stopping = new AbortController()
  const history: string[] = []
  const work = { hold: Promise.resolve(), crash: false }
  const done = elector.run(async (term) => {
    history.push(`start @${clock.monotonicMs() / 1000}`)
    if (work.crash) throw new Error('crash')
    await new Promise((resolve) => term.addEventListener('abort', resolve))
    history.push(`abort @${clock.monotonicMs() / 1000}`)
    await work.hold
  }, stopping.signal)
  const stop = async () => {
    stopping.abort()
    await done
  }
  return { elector, faults: transport.faults, history, work, stopping, done, stop }
}

describe('LeaseElector', () => {
  it('creates the Lease where there is none and leads', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1))
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()

    expect(a.elector.isLeader).to.be.true
    expect(a.elector.holder).to.equal('a')
    expect(server.lease?.spec).to.deep.equal({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
    await a.stop()
  })

  it('renews with one write every retry period', async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 1))
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    const before = server.requests

    await clock.step(20_000)

    expect(server.requests - before).to.equal(10)
    expect(server.lease?.spec.renewTime).to.equal('2026-01-01T00:00:20.000000Z')
    expect(a.history).to.deep.equal(['start @0'])
    await a.stop()
  })

  it('waits as long as the Lease says since it last saw it change, whatever the wall clocks say', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    a.faults.failing = true
    server.write((lease) => (lease.spec.renewTime = '1999-01-01T00:00:00.000000Z'))
    const b = candidate(server, clock, 'b')

    await clock.step(14_999)
    expect(b.elector.isLeader).to.be.false
    await clock.step(2_000)

    expect(b.elector.isLeader).to.be.true
    expect(server.lease?.spec).to.include({ holderIdentity: 'b', leaseTransitions: 1 })
    expect(a.history).to.deep.equal(['start @0', 'abort @10'])
    await a.stop()
    await b.stop()
  })

  it('leaves a leader alone that renews', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    const b = candidate(server, clock, 'b')

    await clock.step(300_000)

    expect([a.elector.isLeader, b.elector.isLeader]).to.deep.equal([true, false])
    expect(b.elector.holder).to.equal('a')
    await a.stop()
    await b.stop()
  })

  for (const fault of ['failing', 'hanging'] as const) {
    it(`stops leading five seconds before others may start when the API server is ${fault}`, async () => {
      const clock = new FakeClock()
      const server = new LeaseServer()
      const a = candidate(server, clock, 'a')
      await clock.step(4_000)
      a.faults[fault] = true

      await clock.step(9_999)
      expect(a.elector.isLeader).to.be.true
      await clock.step(1)

      expect(a.elector.isLeader).to.be.false
      expect(a.history).to.deep.equal(['start @0', 'abort @14'])
      a.stopping.abort()
    })
  }

  it('leads on when the API server comes back in time', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()

    a.faults.failing = true
    await clock.step(7_000)
    a.faults.failing = false
    await clock.step(20_000)

    expect(a.history).to.deep.equal(['start @0'])
    await a.stop()
  })

  it('stops at once when it sees another holder, and competes again', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()

    server.write((lease) => (lease.spec.holderIdentity = 'intruder'))
    await clock.step(2_000)
    expect(a.history).to.deep.equal(['start @0', 'abort @2'])
    await clock.step(20_000)

    expect(a.history.at(-1)).to.match(/^start/)
    await a.stop()
  })

  it('gives the Lease back at shutdown once its work has ended', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    const b = candidate(server, clock, 'b')
    await settle()

    await a.stop()
    expect(server.lease?.spec).to.include({ holderIdentity: '', leaseDurationSeconds: 1 })
    await clock.step(2_000)

    expect(b.elector.isLeader).to.be.true
    await b.stop()
  })

  it('does not give the Lease back while its work still runs, nor after the deadline', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    let endWork: () => void = () => {}
    a.work.hold = new Promise((resolve) => (endWork = resolve))

    a.stopping.abort()
    await clock.step(10_000)
    expect(a.elector.isLeader).to.be.false
    expect(server.lease?.spec.holderIdentity).to.equal('a')
    endWork()
    await a.done

    expect(server.lease?.spec.holderIdentity).to.equal('a')
    expect(clock.pendingTimers).to.equal(0)
  })

  it('gives the Lease back when its work fails, and tries again later', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    a.work.crash = true
    await settle()
    expect(server.lease?.spec.holderIdentity).to.equal('')

    a.work.crash = false
    await clock.step(2_000)

    expect(a.elector.isLeader).to.be.true
    await a.stop()
  })

  it('keeps its annotations, and those of others, through renewals and changes of the leader', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    await a.elector.setAnnotation('k8s-cloud-tagger/last-sweep', 'monday')
    server.write((lease) => (lease.metadata.annotations = { ...lease.metadata.annotations, foreign: 'kept' }))
    await clock.step(10_000)
    await a.elector.setAnnotation('other', 'x')
    await a.stop()

    const b = candidate(server, clock, 'b')
    await clock.step(10_000)

    expect(b.elector.getAnnotation('k8s-cloud-tagger/last-sweep')).to.equal('monday')
    expect(server.lease?.metadata.annotations).to.deep.equal({
      'k8s-cloud-tagger/last-sweep': 'monday',
      foreign: 'kept',
      other: 'x',
    })
    await b.stop()
  })

  it('refuses to write an annotation for anybody but the leader', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    const b = candidate(server, clock, 'b')
    await settle()

    const error = await b.elector.setAnnotation('k', 'v').catch((reason: unknown) => reason)

    expect(error).to.be.instanceOf(KubernetesError).with.property('kind', 'conflict')
    expect(server.lease?.metadata.annotations).to.not.have.property('k')
    await a.stop()
    await b.stop()
  })

  it('makes the Lease again when somebody deletes it', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()

    server.lease = undefined
    await clock.step(2_000)

    expect(server.lease).to.have.nested.property('spec.holderIdentity', 'a')
    expect(a.history).to.deep.equal(['start @0'])
    await a.stop()
  })

  it('leaves nothing running when stopped as a standby', async () => {
    const clock = new FakeClock()
    const server = new LeaseServer()
    const a = candidate(server, clock, 'a')
    await settle()
    const b = candidate(server, clock, 'b')
    await settle()

    await b.stop()
    await a.stop()

    expect(clock.pendingTimers).to.equal(0)
  })
})
