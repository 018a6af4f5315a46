import { expect } from 'chai'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import type { CallPriority } from '../tagger/ports.ts'
import { CallGate, type CallGateOptions } from './call-gate.ts'
import { KubernetesError } from './kubernetes-error.ts'

const never = new AbortController().signal

function throttled(retryAfterMs?: number): KubernetesError {
  return new KubernetesError('throttled', '429', {
    status: 429,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

/** A gate whose calls start when it lets them and end when the test says. */
function gateWith(options: Partial<CallGateOptions> = {}) {
  const clock = new FakeClock()
  const gate = new CallGate({ clock, random: { next: () => 0 }, ...options })
  const started: string[] = []
  const ends = new Map<string, { ok: () => void; fail: (error: Error) => void }>()
  const outcomes: Record<string, unknown> = {}
  const call = (name: string, priority: CallPriority = 'foreground', more: { signal?: AbortSignal } = {}) => {
    const attempt = () => {
      started.push(name)
      return new Promise<string>((resolve, reject) => ends.set(name, { ok: () => resolve(name), fail: reject }))
    }
    gate.run(attempt, { signal: never, priority, ...more }).then(
      (value) => (outcomes[name] = value),
      (error: unknown) => (outcomes[name] = error),
    )
  }
  const finish = async (name: string, error?: Error) => {
    const end = ends.get(name)
    ends.delete(name)
    if (error === undefined) end?.ok()
    else end?.fail(error)
    await settle()
  }
  return { clock, gate, started, outcomes, call, finish }
}

describe('CallGate', () => {
  it('keeps the calls in flight below its limit', async () => {
    const { gate, started, call, finish } = gateWith({ limit: 2 })

    for (const name of ['a', 'b', 'c', 'd']) call(name)
    await settle()
    expect(gate.status).to.include({ inFlight: 2, waiting: 2 })
    await finish('b')

    expect(started).to.deep.equal(['a', 'b', 'c'])
    expect(gate.status).to.include({ inFlight: 2, waiting: 1 })
  })

  it('lets fresh changes go before bulk and housekeeping', async () => {
    const { started, call, finish, clock } = gateWith({ limit: 1 })
    call('first', 'housekeeping')
    await clock.step(1)

    call('event', 'housekeeping')
    call('list', 'bulk')
    call('fresh', 'foreground')
    for (const name of ['first', 'fresh', 'event', 'list']) await finish(name)

    expect(started).to.deep.equal(['first', 'fresh', 'event', 'list'])
  })

  it('keeps places for fresh changes that bulk calls cannot take', async () => {
    const { started, call } = gateWith({ limit: 4 })

    for (const name of ['list-1', 'list-2', 'list-3', 'list-4']) call(name, 'bulk')
    call('fresh')
    await settle()

    expect(started).to.deep.equal(['list-1', 'list-2', 'list-3', 'fresh'])
  })

  it('gives bulk every eighth place under a flood of fresh changes', async () => {
    const { started, call, finish } = gateWith({ limit: 1 })
    for (let i = 0; i < 20; i++) call(`fresh-${i}`)
    call('list', 'bulk')

    for (let i = 0; i < 10; i++) await finish(started.at(-1) ?? '')

    expect(started.indexOf('list')).to.equal(7)
  })

  it('starts one housekeeping call per interval while fresh changes wait', async () => {
    const { clock, started, call, finish } = gateWith({ limit: 4, housekeepingIntervalMs: 50 })
    for (let i = 0; i < 20; i++) call(`change-${i}`)
    for (let i = 0; i < 3; i++) call(`event-${i}`, 'housekeeping')
    await settle()
    const events = () => started.filter((name) => name.startsWith('event'))

    for (const name of ['change-0', 'change-1', 'event-0']) await finish(name)
    expect(events()).to.deep.equal(['event-0'])

    await clock.step(50)
    for (const name of ['change-2', 'change-3']) await finish(name)
    expect(events()).to.deep.equal(['event-0', 'event-1'])
  })

  it('leaves a quarter of the places to housekeeping beside bulk', async () => {
    const { started, call } = gateWith({ limit: 8 })
    for (let i = 0; i < 9; i++) call(`list-${i}`, 'bulk')
    for (let i = 0; i < 3; i++) call(`event-${i}`, 'housekeeping')
    await settle()

    expect(started.filter((name) => name.startsWith('event'))).to.have.length(2)
  })

  it('does not pace housekeeping while nobody else waits', async () => {
    const { started, call } = gateWith({ limit: 8 })

    call('event-0', 'housekeeping')
    call('event-1', 'housekeeping')
    call('event-2', 'housekeeping')
    await settle()

    expect(started).to.deep.equal(['event-0', 'event-1'])
  })

  it('holds everything for as long as a 429 asks, then tries the call again before others', async () => {
    const { clock, started, outcomes, call, finish } = gateWith({ limit: 4 })
    call('a')
    await settle()
    await finish('a', throttled(3_000))
    call('b')

    await clock.step(2_999)
    expect(started).to.deep.equal(['a'])
    await clock.step(1)
    await finish('a')

    expect(started).to.deep.equal(['a', 'a', 'b'])
    expect(outcomes['a']).to.equal('a')
  })

  it('adds chance to the pause but never shortens it, and bounds it', async () => {
    const { clock, started, call, finish } = gateWith({ random: { next: () => 0.999 } })
    call('a')
    await settle()
    await finish('a', throttled(3_600_000))

    await clock.step(37_000)
    expect(started).to.have.length(1)
    await clock.step(500)

    expect(started).to.have.length(2)
  })

  it('pauses a second where the server names no time', async () => {
    const { clock, started, call, finish } = gateWith()
    call('a')
    await settle()
    await finish('a', throttled())

    await clock.step(1_000)

    expect(started).to.have.length(2)
  })

  it('gives a call up after its retries', async () => {
    const { clock, started, outcomes, call, finish } = gateWith({ retries: 2 })
    call('a')
    await settle()
    for (let i = 0; i < 3; i++) {
      await finish('a', throttled(1_000))
      await clock.step(1_000)
    }

    expect(started).to.have.length(3)
    expect(outcomes['a']).to.be.instanceOf(KubernetesError).with.property('kind', 'throttled')
  })

  it('passes other failures on without a pause', async () => {
    const { outcomes, started, call, finish } = gateWith({ limit: 1 })
    call('a')
    call('b')
    await settle()

    await finish('a', new KubernetesError('unavailable', '500'))

    expect(outcomes['a']).to.have.property('kind', 'unavailable')
    expect(started).to.deep.equal(['a', 'b'])
  })

  it('halves the calls in flight once for calls refused together, and grows again as calls succeed', async () => {
    const { clock, gate, call, finish } = gateWith({ limit: 8, retries: 0 })
    for (let i = 0; i < 8; i++) call(`a-${i}`)
    await settle()
    for (let i = 0; i < 8; i++) await finish(`a-${i}`, throttled(1_000))
    expect(gate.status).to.include({ limit: 4, throttled: 8 })
    await clock.step(1_000)

    for (let i = 0; i < 4 + 5 + 6 + 7; i++) {
      call(`b-${i}`)
      await settle()
      await finish(`b-${i}`)
    }

    expect(gate.status.limit).to.equal(8)
  })

  it('lets a waiting call be given up, and leaves no timer for it', async () => {
    const { clock, gate, outcomes, call, finish } = gateWith({ limit: 1, retries: 0 })
    const controller = new AbortController()
    call('a')
    await settle()
    await finish('a', throttled(5_000))
    call('b', 'bulk', { signal: controller.signal })
    await settle()
    expect(clock.pendingTimers).to.equal(1)

    controller.abort()
    await settle()

    expect(outcomes['b']).to.have.property('kind', 'unavailable')
    expect(gate.status.waiting).to.equal(0)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('does not start a call whose signal was aborted before', async () => {
    const { started, outcomes, call } = gateWith()

    call('a', 'foreground', { signal: AbortSignal.abort() })
    await settle()

    expect(started).to.deep.equal([])
    expect(outcomes['a']).to.have.property('kind', 'unavailable')
  })
})
