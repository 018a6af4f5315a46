import { expect } from 'chai'
import fc from 'fast-check'
import { claim } from '../../testing/builders.ts'
import { FakeClock, settle } from '../../testing/fake-clock.ts'
import { silentLogger } from '../runtime/logger.ts'
import { cutNote, eventName } from './event-object.ts'
import { EventRecorder, type EventRecorderOptions } from './event-recorder.ts'
import type { ApiCaller, GatedRequest } from './gated-api.ts'
import { KubernetesError } from './kubernetes-error.ts'

interface SentEvent {
  readonly metadata: { readonly name: string }
  readonly note: string
}

function recorderWith(options: Partial<EventRecorderOptions> & { answers?: 'at once' | 'never' } = {}) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1))
  const sent: GatedRequest[] = []
  const priorities = new Set<string>()
  const failures: Error[] = []
  const api: ApiCaller = {
    call: (request, { signal, priority }) => {
      sent.push(request)
      priorities.add(priority)
      const failure = failures.shift()
      if (failure !== undefined) return Promise.reject(failure)
      if (options.answers !== 'never') return Promise.resolve({})
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new KubernetesError('unavailable', 'given up')))
      })
    },
  }
  const recorder = new EventRecorder({
    api,
    clock,
    random: { next: () => 0.5 },
    logger: silentLogger,
    instance: 'webhook-1',
    ...options,
  })
  const notes = () => sent.map(({ body }) => (body as SentEvent).note)
  return { clock, recorder, sent, notes, failures, priorities }
}

const tagged = { type: 'Normal', reason: 'Tagged', note: 'team=core' } as const
const failed = { type: 'Warning', reason: 'TagFailed', note: 'no' } as const

describe('EventRecorder', () => {
  it('writes an Event about the claim, as housekeeping', async () => {
    const { recorder, sent, priorities } = recorderWith()

    recorder.record(claim({ name: 'data-0', uid: 'u1' }), tagged)
    await settle()

    expect(sent).to.have.length(1)
    expect(sent[0]).to.include({ method: 'POST', path: '/apis/events.k8s.io/v1/namespaces/db/events' })
    expect(sent[0]?.body).to.deep.include({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'k8s-cloud-tagger',
      reportingInstance: 'webhook-1',
      action: 'TagDisk',
      type: 'Normal',
      reason: 'Tagged',
      note: 'team=core',
      regarding: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'db', name: 'data-0', uid: 'u1' },
    })
    expect([...priorities]).to.deep.equal(['housekeeping'])
    await recorder.close()
  })

  it('says an equal thing once in ten minutes', async () => {
    const { clock, recorder, notes } = recorderWith()
    for (let i = 0; i < 3; i++) recorder.record(claim(), tagged)
    await clock.step(599_999)
    recorder.record(claim(), tagged)
    expect(notes()).to.have.length(1)

    await clock.step(1)
    recorder.record(claim(), tagged)
    await settle()

    expect(notes()).to.have.length(2)
    expect(recorder.status).to.include({ written: 2, suppressed: 3 })
    await recorder.close()
  })

  it('tells claims, reasons and notes apart', async () => {
    const { recorder, sent } = recorderWith()

    recorder.record(claim({ uid: 'u1' }), tagged)
    recorder.record(claim({ uid: 'u2' }), tagged)
    recorder.record(claim({ uid: 'u1' }), { ...tagged, note: 'team=data' })
    recorder.record(claim({ uid: 'u1' }), { ...tagged, reason: 'TagsSkipped' })
    await settle()

    expect(sent).to.have.length(4)
    expect(new Set(sent.map(({ body }) => (body as SentEvent).metadata.name)).size).to.equal(4)
    await recorder.close()
  })

  it('writes no Normal Events where they are switched off', async () => {
    const { recorder, notes } = recorderWith({ normal: false })

    recorder.record(claim(), tagged)
    recorder.record(claim(), failed)
    await settle()

    expect(notes()).to.deep.equal(['no'])
    await recorder.close()
  })

  it('keeps four calls in flight at most', async () => {
    const { recorder, sent } = recorderWith({ answers: 'never' })
    for (let i = 0; i < 10; i++) recorder.record(claim({ uid: `u${i}` }), tagged)
    await settle()

    expect(sent).to.have.length(4)
    expect(recorder.status.waiting).to.equal(6)
    await recorder.close(0)
  })

  it('writes a burst at once and the rest at ten a second', async () => {
    const { clock, recorder, sent } = recorderWith()
    for (let i = 0; i < 50; i++) recorder.record(claim({ uid: `u${i}` }), tagged)
    await settle()
    expect(sent).to.have.length(10)

    await clock.step(1_000)
    expect(sent).to.have.length(20)
    await clock.step(3_000)

    expect(sent).to.have.length(50)
    await recorder.close()
  })

  it('drops what does not fit its queue, and counts it', async () => {
    const { recorder } = recorderWith({ answers: 'never' })
    for (let i = 0; i < 1_010; i++) recorder.record(claim({ uid: `u${i}` }), tagged)

    expect(recorder.status).to.include({ waiting: 1_000, dropped: 6 })
    await recorder.close(0)
  })

  it('counts a failure, and says the thing again when it comes again', async () => {
    const { recorder, sent, failures } = recorderWith()
    failures.push(new KubernetesError('unavailable', '500'))
    recorder.record(claim(), tagged)
    await settle()

    recorder.record(claim(), tagged)
    await settle()

    expect(sent).to.have.length(2)
    expect(recorder.status).to.include({ failed: 1, written: 1 })
    await recorder.close()
  })

  it('does not repeat what is forbidden', async () => {
    const { recorder, sent, failures } = recorderWith()
    failures.push(new KubernetesError('denied', '403: namespace is being terminated'))
    recorder.record(claim(), tagged)
    await settle()

    recorder.record(claim(), tagged)
    await settle()

    expect(sent).to.have.length(1)
    await recorder.close()
  })

  it('sends what waits when it is closed, without its pace', async () => {
    const { clock, recorder, sent } = recorderWith()
    for (let i = 0; i < 50; i++) recorder.record(claim({ uid: `u${i}` }), tagged)

    await recorder.close()

    expect(sent).to.have.length(50)
    expect(recorder.status).to.include({ written: 50, dropped: 0 })
    expect(clock.pendingTimers).to.equal(0)
  })

  it('closes in bounded time when the API server does not answer', async () => {
    const { clock, recorder } = recorderWith({ answers: 'never' })
    for (let i = 0; i < 10; i++) recorder.record(claim({ uid: `u${i}` }), tagged)
    let closed = false

    void recorder.close(2_000).then(() => (closed = true))
    await clock.step(1_999)
    expect(closed).to.be.false
    await clock.step(1)

    expect(closed).to.be.true
    expect(recorder.status).to.include({ waiting: 0, dropped: 6, failed: 4 })
    expect(clock.pendingTimers).to.equal(0)
  })

  it('takes nothing after it was closed', async () => {
    const { recorder, sent } = recorderWith()
    await recorder.close()

    recorder.record(claim(), tagged)

    expect(sent).to.have.length(0)
    expect(recorder.status.dropped).to.equal(1)
  })
})

describe('eventName', () => {
  const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

  it('is a DNS subdomain of at most 253 characters, wherever the cut falls', () => {
    const part = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/)
    const names = fc.array(part, { minLength: 1, maxLength: 20 }).map((parts) => parts.join('.').slice(0, 253))
    fc.assert(
      fc.property(
        names.filter((name) => dnsSubdomain.test(name)),
        (name) => {
          const made = eventName(name, 'k3j9x0a1')

          expect(made).to.match(dnsSubdomain)
          expect(made.length).to.be.at.most(253)
          expect(made.endsWith('.k3j9x0a1')).to.be.true
        },
      ),
    )
  })
})

describe('cutNote', () => {
  it('leaves a note alone that fits', () => {
    expect(cutNote('é'.repeat(512))).to.equal('é'.repeat(512))
  })

  it('cuts to 1,024 bytes without breaking a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 900, maxLength: 1_200 }), (text) => {
        const note = cutNote(text)

        expect(Buffer.byteLength(note)).to.be.at.most(1_024)
        expect(text.startsWith(note.replace(/…$/u, ''))).to.be.true
      }),
    )
  })
})
