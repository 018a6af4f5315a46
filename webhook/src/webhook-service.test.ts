import { expect } from 'chai'
import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import type { KeyAndCertificate } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { AdmissionCaller } from '@k8s-cloud-tagger/shared/testing/programs/admission-caller.ts'
import { CapturedLog } from '@k8s-cloud-tagger/shared/testing/programs/captured-log.ts'
import { eventually } from '@k8s-cloud-tagger/shared/testing/programs/eventually.ts'
import { admissionReview } from '@k8s-cloud-tagger/shared/testing/programs/review.ts'
import { SecretFolder } from '@k8s-cloud-tagger/shared/testing/programs/secret-folder.ts'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { normalize } from '@k8s-cloud-tagger/shared/providers/memory/normalize.ts'
import { rulesFor } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import type { Job } from './admission/decide.ts'
import { admissionReplies, defaultLabelsFor } from './admission-policy.ts'
import { drainMs, WebhookService } from './webhook-service.ts'

const pollMs = 10_000
const bound = admissionReview({ object: { volumeName: 'pv-1' }, oldObject: { resourceVersion: '11' } })

describe('WebhookService', () => {
  let authority: CertificateAuthority
  let folder: SecretFolder
  let clock: FakeClock
  let log: CapturedLog
  let metrics: Metrics
  let service: WebhookService
  let jobs: Job[]
  const callers: AdmissionCaller[] = []

  before(async () => {
    authority = await CertificateAuthority.create()
  })

  beforeEach(async () => {
    folder = await SecretFolder.create()
    clock = new FakeClock()
    log = new CapturedLog()
    metrics = createMetrics({ version: '1.2.3', program: 'webhook' })
    jobs = []
    service = new WebhookService({
      config: {
        enabled: true,
        address: '127.0.0.1',
        port: 0,
        certificateDirectory: folder.path,
        excludedNamespaces: [],
      },
      clock,
      logger: log,
      metrics,
      ...replies(),
    })
  })

  afterEach(async () => {
    for (const caller of callers.splice(0)) caller.close()
    await stopped()
    expect(clock.pendingTimers).to.equal(0)
    await folder.delete()
  })

  function replies() {
    const config = parseConfig('admission: {problems: {protectedKey: deny}, defaultLabels: {team: core}}')
    const rules = rulesFor(config)
    return admissionReplies({
      config,
      rules,
      defaults: defaultLabelsFor(config, rules),
      normalize: (desired) => normalize(desired),
      findNamespace: undefined,
      enqueue: (job) => void jobs.push(job),
      metrics,
    })
  }

  async function stopped(): Promise<void> {
    let closed = false
    const closing = service.closeAfterDrain().then(() => (closed = true))
    await eventually('the service to be closed', async () => {
      await clock.step(drainMs)
      return closed
    })
    await closing
  }

  function newCaller(): AdmissionCaller {
    const caller = new AdmissionCaller({ port: service.port ?? 0, ca: authority.certificate })
    callers.push(caller)
    return caller
  }

  function issue(): Promise<KeyAndCertificate> {
    return authority.issue(['127.0.0.1'])
  }

  async function reloads(): Promise<Record<string, number>> {
    const { values } = await metrics.certificateReloads.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }

  async function reviews(): Promise<Record<string, number>> {
    const { values } = await metrics.reviews.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  }

  async function expirySeconds(): Promise<number | undefined> {
    return (await metrics.certificateExpiry.get()).values[0]?.value
  }

  async function takeUp(pair: KeyAndCertificate): Promise<void> {
    const before = (await reloads())['loaded'] ?? 0
    await folder.swap(pair)
    await clock.step(pollMs)
    await eventually('the new certificate to be loaded', async () => ((await reloads())['loaded'] ?? 0) > before)
  }

  it('is not ready without a certificate, and becomes ready when there is one', async () => {
    await service.start()

    expect(service.notReady).to.equal(`webhook: no certificate in ${folder.path} yet`)
    expect(service.port).to.equal(undefined)
    await takeUp(await issue())
    await eventually('the service to be ready', () => service.notReady === undefined)
    expect((await newCaller().review(bound)).status).to.equal(200)
    expect(jobs.map(({ key }) => key)).to.deep.equal(['db/data-0'])
  })

  it('is ready at once where the certificate is there', async () => {
    await folder.swap(await issue())

    await service.start()

    expect(service.notReady).to.equal(undefined)
  })

  it('rejects its start where its port is taken', async () => {
    await folder.swap(await issue())
    await service.start()
    const config = { enabled: true, address: '127.0.0.1', certificateDirectory: folder.path, excludedNamespaces: [] }
    const second = new WebhookService({
      config: { ...config, port: service.port ?? 0 },
      clock,
      logger: log,
      metrics: createMetrics({ version: '1.2.3', program: 'webhook' }),
      ...replies(),
    })

    const failure = await second.start().catch((error: unknown) => error)

    expect(failure).to.have.property('code', 'EADDRINUSE')
    const closing = second.closeAfterDrain()
    await clock.step(drainMs)
    await closing
  })

  it('counts every outcome of a review from zero on', async () => {
    await folder.swap(await issue())
    await service.start()
    const counted = await reviews()
    expect(new Set(Object.values(counted))).to.deep.equal(new Set([0]))

    const caller = newCaller()
    await caller.review(bound)
    await caller.call({ method: 'GET' })
    await caller.call({ path: '/elsewhere', body: '{}' })
    await caller.call({ body: '{}' })
    await caller.call({ body: '{}', headers: { 'content-type': 'text/plain' } })

    expect(await reviews()).to.deep.equal({
      ...counted,
      queued: 1,
      'wrong-method': 1,
      'wrong-path': 1,
      malformed: 1,
      'wrong-type': 1,
    })
  })

  it('counts what it said and added, but for dry runs, from zero on', async () => {
    await folder.swap(await issue())
    await service.start()
    const values = async (name: 'mutations' | 'admissionProblems') =>
      (await metrics[name].get()).values
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => Object.values<string | number>(labels).concat(value))
    expect((await metrics.admissionProblems.get()).values).to.have.length(24)
    expect([await values('mutations'), await values('admissionProblems')]).to.deep.equal([[], []])

    const caller = newCaller()
    const bad = { operation: 'CREATE', object: { labels: { 'kubernetes.io/x': 'y' } } }
    const refused = await caller.review(admissionReview(bad))
    await caller.review(admissionReview({ ...bad, dryRun: true }))
    await caller.call({ path: '/mutate', body: JSON.stringify(admissionReview(bad)) })

    expect(refused.text).to.include('label kubernetes.io/x').and.include('"allowed":false')
    expect(await values('admissionProblems')).to.deep.equal([['protected-key', 'deny', 1]])
    expect(await values('mutations')).to.deep.equal([['labelled', 1]])
    expect(await reviews()).to.include({ denied: 1, 'dry-run': 1 })
  })

  describe('when the certificate is swapped', () => {
    it('shows the new one to new connections, and asks the kept ones to close after their next answer', async () => {
      await folder.swap(await issue())
      await service.start()
      const kept = newCaller()
      const first = await kept.review(bound)

      await takeUp(await issue())
      const second = await kept.review(bound)
      const third = await kept.review(bound)
      const fourth = await kept.review(bound)

      expect(first.headers.connection).to.equal('keep-alive')
      expect([second.localPort, second.headers.connection]).to.deep.equal([first.localPort, 'close'])
      expect(third.localPort).to.not.equal(first.localPort)
      expect(third.fingerprint).to.not.equal(first.fingerprint)
      expect(third.headers.connection).to.equal('keep-alive')
      expect(fourth.localPort).to.equal(third.localPort)
    })

    it('loses no request, however often', async () => {
      await folder.swap(await issue())
      await service.start()
      const callers = Array.from({ length: 8 }, newCaller)
      const statuses: number[] = []
      const fingerprints = new Set<string>()
      const swapped = new AbortController()
      const load = callers.map(async (caller) => {
        while (!swapped.signal.aborted) {
          const { status, fingerprint } = await caller.review(bound)
          statuses.push(status)
          fingerprints.add(fingerprint)
        }
      })

      for (let swap = 0; swap < 5; swap++) await takeUp(await issue())
      swapped.abort()
      await Promise.all(load)

      expect(new Set(statuses)).to.deep.equal(new Set([200]))
      expect(statuses.length).to.be.above(40)
      expect(fingerprints.size).to.be.above(2)
    })

    it('shows when the one in force expires', async () => {
      const long = await issue()
      await folder.swap(long)
      await service.start()
      expect(await expirySeconds()).to.be.closeTo(Date.now() / 1000 + 90 * 86_400, 60)

      const validity = { notBeforeMs: Date.now() - 3_600_000, notAfterMs: Date.now() + 86_400_000 }
      await takeUp(await authority.issue(['127.0.0.1'], validity))

      expect(await expirySeconds()).to.be.closeTo(Date.now() / 1000 + 86_400, 60)
    })

    it('serves on with the old one where the new one is no good, and counts the failure', async () => {
      await folder.swap(await issue())
      await service.start()
      const expiry = await expirySeconds()
      const { certificate } = await issue()
      const { key } = await issue()

      await folder.swap({ certificate, key })
      await clock.step(pollMs)
      await eventually('the failure to be counted', async () => ((await reloads())['failed'] ?? 0) > 0)

      expect((await newCaller().review(bound)).status).to.equal(200)
      expect(service.notReady).to.equal(undefined)
      expect(await expirySeconds()).to.equal(expiry)
      expect(log.at('warn')).to.deep.equal(['certificate cannot be loaded'])
    })
  })

  describe('when it stops', () => {
    it('is not ready at once, answers on for two seconds, and asks callers to go', async () => {
      await folder.swap(await issue())
      await service.start()
      const kept = newCaller()
      await kept.review(bound)

      service.drain()
      const closing = service.closeAfterDrain()
      await clock.step(drainMs - 1)

      expect(service.notReady).to.equal('webhook: stopping')
      for (const caller of [kept, newCaller()]) {
        const { status, headers } = await caller.review(bound)
        expect([status, headers.connection]).to.deep.equal([200, 'close'])
      }
      await clock.step(1)
      await closing
      const refused = await newCaller()
        .review(bound)
        .catch((error: unknown) => error)
      expect(refused).to.have.property('code', 'ECONNREFUSED')
    })

    it('cuts a request that does not end', async () => {
      await folder.swap(await issue())
      await service.start()
      service.drain()
      const open = newCaller().open({ headers: { 'content-length': 1000 } })
      open.outgoing.write('{"kind":')
      await eventually('the connection', () => open.outgoing.socket?.readyState === 'open')

      await stopped()

      expect(await open.answer.catch((error: unknown) => error)).to.have.property('code', 'ECONNRESET')
    })
  })
})
