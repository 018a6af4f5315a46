import { expect } from 'chai'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import type { KeyAndCertificate } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { settle } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { AdmissionCaller } from '@k8s-cloud-tagger/shared/testing/programs/admission-caller.ts'
import type { OpenRequest } from '@k8s-cloud-tagger/shared/testing/programs/admission-caller.ts'
import { admissionReview } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import { systemClock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { silentLogger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import type { Job } from '../admission/decide.ts'
import { reviewHandler } from '../admission/handler.ts'
import type { RefusedOutcome } from '../admission/handler.ts'
import { mutation, validation } from '../admission/replies.ts'
import { rulesOf } from '@k8s-cloud-tagger/shared/testing/tagging-rules.ts'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { defaultLabelsFor, judgeFor } from '../admission-policy.ts'
import { AdmissionServer } from './admission-server.ts'
import { BodyReader } from './body-reader.ts'

const mebibyte = 1024 * 1024
const bound = admissionReview({ object: { volumeName: 'pv-1' }, oldObject: { resourceVersion: '11' } })

describe('AdmissionServer, over TLS', () => {
  let authority: CertificateAuthority
  let identity: KeyAndCertificate
  let server: AdmissionServer
  let caller: AdmissionCaller
  let bodies: BodyReader
  let jobs: Job[]
  let outcomes: string[]
  let enqueue: (job: Job) => void
  /** Instead of a reply. */
  let broken: Promise<never> | undefined

  before(async () => {
    authority = await CertificateAuthority.create()
    identity = await authority.issue(['127.0.0.1'])
  })

  beforeEach(async () => {
    jobs = []
    outcomes = []
    enqueue = (job) => void jobs.push(job)
    broken = undefined
    await serve()
  })

  afterEach(async () => {
    caller.close()
    server.closeNow()
    await server.close()
  })

  async function serve(options: { readonly requestTimeoutMs?: number } = {}): Promise<number> {
    bodies = new BodyReader()
    server = new AdmissionServer({
      ...options,
      address: '127.0.0.1',
      port: 0,
      pair: { cert: identity.certificate, key: identity.key, notAfterMs: 0, fingerprint: '' },
      handlers: handlers(),
      onRefused: (outcome) => void outcomes.push(outcome),
    })
    const port = await server.listen()
    caller = new AdmissionCaller({ port, ca: authority.certificate })
    return port
  }

  function handlers() {
    const config = parseConfig('admission: {defaultLabels: {team: core}}')
    const frame = {
      bodies,
      clock: systemClock,
      logger: silentLogger,
      observe: (outcome: string) => void outcomes.push(outcome),
      onRefused: (outcome: RefusedOutcome) => void outcomes.push(outcome),
    }
    const judge = judgeFor(config, rulesOf(), (tags) => ({ tags, problems: [] }))
    const validate = validation({ judge, findNamespace: undefined, enqueue: (job) => enqueue(job), onTold: () => {} })
    const mutate = mutation({ defaults: defaultLabelsFor(config, rulesOf()), findNamespace: undefined })
    return {
      '/validate': reviewHandler({ ...frame, reply: (request) => broken ?? validate(request) }),
      '/mutate': reviewHandler({ ...frame, reply: mutate }),
    }
  }

  async function until(condition: () => boolean): Promise<void> {
    const endMs = systemClock.monotonicMs() + 5000
    while (!condition()) {
      if (systemClock.monotonicMs() > endMs) throw new Error('it did not come true within 5 s')
      await settle()
    }
  }

  describe('a good review', () => {
    it('is answered with its own uid and allowed, and makes a job', async () => {
      const { status, headers, text } = await caller.review(bound)

      expect(status).to.equal(200)
      expect(headers['content-type']).to.equal('application/json')
      expect(JSON.parse(text)).to.deep.equal({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: bound.request.uid, allowed: true },
      })
      expect(jobs.map(({ key }) => key)).to.deep.equal(['db/data-0'])
      expect(outcomes).to.deep.equal(['queued'])
    })

    it('H2: is answered before its job is taken in', async () => {
      const answeredFirst: boolean[] = []
      enqueue = () => void answeredFirst.push(outcomes.includes('queued'))

      await caller.review(bound)

      expect(answeredFirst).to.deep.equal([true])
    })

    for (const [what, review, outcome] of [
      ['a dry run', admissionReview({ object: { volumeName: 'pv-1' }, dryRun: true }), 'dry-run'],
      ['a claim without a volume', admissionReview(), 'unbound'],
      [
        'a claim on its way out',
        admissionReview({ object: { volumeName: 'pv-1', deletionTimestamp: '2026-11-30T00:00:00Z' } }),
        'deleting',
      ],
      ['a status', admissionReview({ object: { volumeName: 'pv-1' }, subResource: 'status' }), 'not-a-claim'],
      [
        'another resource',
        admissionReview({ resource: { group: '', version: 'v1', resource: 'pods' }, object: { volumeName: 'pv-1' } }),
        'not-a-claim',
      ],
    ] as const) {
      it(`of ${what} is allowed and makes no job`, async () => {
        const { status, text } = await caller.review(review)

        expect(status).to.equal(200)
        expect(JSON.parse(text)).to.have.nested.property('response.allowed', true)
        expect(jobs).to.deep.equal([])
        expect(outcomes).to.deep.equal([outcome])
      })
    }

    it('may carry annotations of 250 KB on both objects', async () => {
      const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'ä'.repeat(128_000) }
      const large = admissionReview({
        object: { volumeName: 'pv-1', annotations },
        oldObject: { resourceVersion: '11', annotations },
      })

      expect((await caller.review(large)).status).to.equal(200)
      expect(jobs).to.have.length(1)
    })

    it('comes over one kept connection with those before it', async () => {
      const ports = new Set<number>()
      for (let i = 0; i < 5; i++) ports.add((await caller.review(bound)).localPort)

      expect(ports.size).to.equal(1)
    })

    it('is understood whatever its content-type says behind application/json', async () => {
      const headers = { 'content-type': 'Application/JSON; charset=utf-8' }

      expect((await caller.call({ headers, body: JSON.stringify(bound) })).status).to.equal(200)
    })
  })

  describe('anything else is refused with a sentence, and counted:', () => {
    const body = JSON.stringify(bound)
    for (const [what, call, status, outcome] of [
      ['garbage', { body: '\u0000 no JSON' }, 400, 'malformed'],
      ['an empty body', {}, 400, 'malformed'],
      ['another kind', { body: '{"kind":"Status"}' }, 400, 'malformed'],
      [
        'another version',
        { body: JSON.stringify({ ...bound, apiVersion: 'admission.k8s.io/v1beta1' }) },
        400,
        'malformed',
      ],
      ['a review without a request', { body: JSON.stringify({ ...bound, request: null }) }, 400, 'malformed'],
      ['a review without a uid', { body: JSON.stringify(admissionReview({ uid: '' })) }, 400, 'malformed'],
      ['YAML', { body, headers: { 'content-type': 'application/yaml' } }, 415, 'wrong-type'],
      [
        'a type that only looks like JSON',
        { body, headers: { 'content-type': 'application/jsonp' } },
        415,
        'wrong-type',
      ],
      ['no type', { body, headers: { 'content-type': '' } }, 415, 'wrong-type'],
      ['GET', { method: 'GET' }, 405, 'wrong-method'],
      ['PUT', { method: 'PUT', body }, 405, 'wrong-method'],
      ['the root', { path: '/', body }, 404, 'wrong-path'],
      ['another path', { path: '/validated', body }, 404, 'wrong-path'],
      ['GET of the other endpoint', { method: 'GET', path: '/mutate' }, 405, 'wrong-method'],
      ['garbage for the other endpoint', { path: '/mutate', body: '{' }, 400, 'malformed'],
      [
        'YAML for the other endpoint',
        { path: '/mutate', body, headers: { 'content-type': 'application/yaml' } },
        415,
        'wrong-type',
      ],
      ['a path that cannot be decoded', { path: '/%E0%A4%A', body }, 404, 'wrong-path'],
    ] as const) {
      it(`${what} with ${status}`, async () => {
        const answer = await caller.call(call)

        expect(answer.status).to.equal(status)
        expect(answer.headers['content-type']).to.equal('application/json')
        expect(JSON.parse(answer.text)).to.have.property('code', status)
        expect((JSON.parse(answer.text) as { message: string }).message).to.have.length.above(5)
        expect(outcomes).to.deep.equal([outcome])
        expect(jobs).to.deep.equal([])
      })
    }

    it('a body whose length says that it is larger than 8 MiB with 413, before it is sent', async () => {
      const open = caller.open({ headers: { 'content-length': 8 * mebibyte + 1 } })
      open.outgoing.write('{')

      const answer = await open.answer

      expect(answer.status).to.equal(413)
      expect(answer.headers.connection).to.equal('close')
      expect(outcomes).to.deep.equal(['too-large'])
    })

    it('a body of unknown length with 413, as soon as more than 8 MiB have come', async () => {
      const open = caller.open({ headers: { 'transfer-encoding': 'chunked' } })
      open.outgoing.write(Buffer.alloc(8 * mebibyte, ' '))
      await until(() => bodies.bytesInFlight >= 8 * mebibyte)
      open.outgoing.write(' ')

      expect((await open.answer).status).to.equal(413)
      expect(outcomes).to.deep.equal(['too-large'])
      expect(bodies.bytesInFlight).to.equal(0)
    })

    it('a body sent whole that is far too large with 413 that its sender can read', async () => {
      const answer = await caller.call({ body: Buffer.alloc(20 * mebibyte, ' ') })

      expect(answer.status).to.equal(413)
      expect((await caller.review(bound)).status).to.equal(200)
    })

    it('takes a body of exactly 8 MiB', async () => {
      const padded = body + ' '.repeat(8 * mebibyte - body.length)

      expect((await caller.call({ body: padded })).status).to.equal(200)
    })

    it('more than 32 MiB of bodies at once with 503, until there is room again', async () => {
      const open: OpenRequest[] = []
      for (let i = 0; i < 4; i++) {
        const one = caller.open({ headers: { 'content-length': 8 * mebibyte } })
        one.outgoing.write(Buffer.alloc(8 * mebibyte - 8192, ' '))
        open.push(one)
      }
      await until(() => bodies.bytesInFlight >= 4 * (8 * mebibyte - 8192))

      const refused = await caller.call({ body: `${body}${' '.repeat(64 * 1024)}` })
      const small = await caller.review(bound)
      for (const { outgoing } of open) outgoing.destroy()
      await until(() => bodies.bytesInFlight === 0)
      const later = await caller.call({ body: `${body}${' '.repeat(64 * 1024)}` })

      expect([refused.status, small.status, later.status]).to.deep.equal([503, 200, 200])
      expect(outcomes.filter((outcome) => outcome === 'overloaded')).to.have.length(1)
    })
  })

  it('answers a mutating review by the same rules, with a patch and no job', async () => {
    const review = admissionReview({ operation: 'CREATE', name: '', object: { name: '', generateName: 'data-' } })

    const { status, text } = await caller.call({ path: '/mutate?timeout=2s', body: JSON.stringify(review) })

    expect(status).to.equal(200)
    const { response } = JSON.parse(text) as { response: { patchType: string; patch: string } }
    expect(response).to.include({ uid: review.request.uid, allowed: true, patchType: 'JSONPatch' })
    expect(JSON.parse(Buffer.from(response.patch, 'base64').toString())).to.deep.equal([
      { op: 'add', path: '/metadata/labels', value: { team: 'core' } },
    ])
    expect([outcomes, jobs]).to.deep.equal([['labelled'], []])
  })

  it('says 500 where a review cannot be judged, which lets the write pass, and serves on', async () => {
    broken = Promise.reject(new Error('a bug'))

    expect((await caller.review(bound)).status).to.equal(500)

    broken = undefined
    expect((await caller.review(bound)).status).to.equal(200)
    expect(outcomes).to.deep.equal(['failed', 'queued'])
  })

  describe('a body that does not come', () => {
    it('is given up when its sender hangs up, and counted', async () => {
      const open = caller.open({ headers: { 'content-length': 1000 } })
      open.outgoing.write('{"kind":')
      await until(() => bodies.bytesInFlight > 0)
      open.outgoing.destroy()

      await until(() => outcomes.length > 0)

      expect(outcomes).to.deep.equal(['broken-off'])
      expect(bodies.bytesInFlight).to.equal(0)
      expect((await caller.review(bound)).status).to.equal(200)
    })

    it('is given up when its time is over, while others are answered', async () => {
      caller.close()
      await server.close()
      const port = await serve({ requestTimeoutMs: 200 })
      const slowCaller = new AdmissionCaller({ port, ca: authority.certificate })
      const { localPort } = await caller.review(bound)
      const slow = slowCaller.open({ headers: { 'content-length': 1000 } })
      slow.outgoing.write('{"kind":')
      await until(() => bodies.bytesInFlight > 0)
      await caller.review(bound)

      expect((await slow.answer).status).to.equal(408)
      await until(() => outcomes.length === 3)
      expect(outcomes).to.deep.equal(['queued', 'queued', 'broken-off'])
      // An idle connection has all the time in the world.
      expect((await caller.review(bound)).localPort).to.equal(localPort)
      slowCaller.close()
      expect(bodies.bytesInFlight).to.equal(0)
    })
  })

  describe('while it drains', () => {
    it('answers on, and asks each caller to close its connection', async () => {
      await caller.review(bound)
      server.drain()

      const answer = await caller.review(bound)

      expect(answer.status).to.equal(200)
      expect(answer.headers.connection).to.equal('close')
    })

    it('closes when the last request is answered, and no earlier', async () => {
      const body = JSON.stringify(bound)
      server.drain()
      const open = caller.open({ headers: { 'content-length': body.length } })
      open.outgoing.write(body.slice(0, 10))
      await until(() => bodies.bytesInFlight > 0)
      let closed = false
      const closing = server.close().then(() => (closed = true))
      await settle()
      expect(closed).to.equal(false)

      open.outgoing.end(body.slice(10))

      expect((await open.answer).status).to.equal(200)
      await closing
    })
  })
})
