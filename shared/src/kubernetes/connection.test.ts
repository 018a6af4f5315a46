import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { FakeClock } from '../../testing/fake-clock.ts'
import { EmbeddedKubernetes } from '../../testing/kubernetes/embedded-kubernetes.ts'
import { silentLogger } from '../runtime/logger.ts'
import type { ApiRequest } from './api-request.ts'
import { ClusterConnection, type ClusterConnectionOptions, type FinishedCall } from './connection.ts'
import { kubeconfigFiles, kubeconfigText, podServiceAccount, type LoadKubeConfig } from './credentials.ts'
import { KubernetesError } from './kubernetes-error.ts'

const never = new AbortController().signal
const namespaces = '/api/v1/namespaces'

async function errorOf(promise: Promise<unknown>): Promise<KubernetesError> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(outcome instanceof KubernetesError)) throw new Error(`no KubernetesError but ${String(outcome)}`)
  return outcome
}

describe('ClusterConnection', () => {
  const clock = new FakeClock()
  const connections: ClusterConnection[] = []
  let server: EmbeddedKubernetes
  let folder: string

  function connect(options: Partial<ClusterConnectionOptions> = {}): ClusterConnection {
    const connection = new ClusterConnection({
      load: kubeconfigText(server.kubeconfigText('admin')),
      version: '1.2.3',
      clock,
      logger: silentLogger,
      ...options,
    })
    connections.push(connection)
    return connection
  }

  function get(connection: ClusterConnection, path: string, more: Partial<ApiRequest> = {}): Promise<unknown> {
    return connection.send({ method: 'GET', path, signal: never, ...more })
  }

  /** Resolves when the server has the next request. */
  function requestArrived(): Promise<void> {
    const count = server.log.count()
    return new Promise((resolve) => {
      const look = () => (server.log.count() > count ? resolve() : void setImmediate(look))
      look()
    })
  }

  beforeEach(async () => {
    server = await EmbeddedKubernetes.start()
    folder = await mkdtemp(join(tmpdir(), 'connection-'))
  })

  afterEach(async () => {
    for (const connection of connections.splice(0)) await connection.close()
    await server.stop()
    await rm(folder, { recursive: true })
  })

  // Two: undici takes a connection as free a moment after its answer has been read.
  it('keeps its connections for calls that follow each other, and says who it is', async () => {
    const connection = connect()

    for (let i = 0; i < 20; i++) await get(connection, `${namespaces}/default`)

    expect(server.connections).to.be.at.most(2)
    expect(server.log.entries[0]).to.include({ userAgent: 'k8s-cloud-tagger/1.2.3' })
  })

  it('never opens more connections than it may', async () => {
    const connection = connect({ maxConnections: 3 })

    await Promise.all(Array.from({ length: 30 }, () => get(connection, `${namespaces}/default`)))

    expect(server.connections).to.be.at.most(3)
  })

  it('sends queries and JSON bodies', async () => {
    const connection = connect()
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }

    await connection.send({ method: 'POST', path: namespaces, body, signal: never })
    const list = await get(connection, namespaces, { query: { limit: 1, continue: undefined } })

    expect(server.get('namespaces', 'team')).to.not.be.undefined
    expect(list).to.have.property('items').with.length(1)
  })

  it('gives each refusal its meaning', async () => {
    server.users.add({ name: 'nobody', rules: [] })
    const connection = connect()
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }

    expect(await errorOf(get(connection, `${namespaces}/none`))).to.include({ kind: 'not-found', status: 404 })
    expect(await errorOf(connection.send({ method: 'POST', path: namespaces, body, signal: never }))).to.include({
      kind: 'conflict',
      status: 409,
    })
    const nobody = connect({ load: kubeconfigText(server.kubeconfigText('nobody')) })
    expect(await errorOf(get(nobody, `${namespaces}/default`))).to.include({ kind: 'denied', status: 403 })
    server.failNext(1, () => true, { kind: 'status', code: 429, retryAfterSeconds: 3 })
    expect(await errorOf(get(connection, namespaces))).to.include({ kind: 'throttled', retryAfterMs: 3_000 })
  })

  it('gives a call up after its time, and cuts the connection that it was on', async () => {
    const connection = connect({ timeoutMs: 10_000 })
    server.failNext(1, () => true, { kind: 'hang' })
    const arrived = requestArrived()
    const error = errorOf(get(connection, `${namespaces}/default`))
    await arrived

    await clock.step(10_000)

    expect(await error).to.include({ kind: 'unavailable', message: 'no answer from the API server within 10000 ms' })
    await get(connection, `${namespaces}/default`)
    expect(server.connections).to.equal(2)
    expect(clock.pendingTimers).to.equal(0)
  })

  it('gives a call up when its caller does', async () => {
    const connection = connect()
    const controller = new AbortController()
    server.failNext(1, () => true, { kind: 'hang' })
    const arrived = requestArrived()
    const error = errorOf(get(connection, `${namespaces}/default`, { signal: controller.signal }))
    await arrived

    controller.abort()

    expect(await error).to.include({ kind: 'unavailable' })
    expect((await errorOf(get(connection, namespaces, { signal: controller.signal }))).kind).to.equal('unavailable')
  })

  it('is unavailable where the answer is lost or nobody listens', async () => {
    const connection = connect()
    server.failNext(1, () => true, { kind: 'lose-answer' })

    expect((await errorOf(get(connection, namespaces))).kind).to.equal('unavailable')
    const config = server.kubeconfigText('admin').replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1')
    const nowhere = connect({ load: kubeconfigText(config) })
    expect((await errorOf(get(nowhere, namespaces))).kind).to.equal('unavailable')
    const noFile = connect({ load: kubeconfigFiles([join(folder, 'none')]) })
    expect((await errorOf(get(noFile, namespaces))).message).to.include('no credentials')
  })

  it('trusts no server of another authority', async () => {
    const other = await EmbeddedKubernetes.start()
    const config = server.kubeconfigText('admin').replace(server.url, other.url)

    const error = await errorOf(get(connect({ load: kubeconfigText(config) }), namespaces))

    expect(error.kind).to.equal('unavailable')
    expect(error.message).to.match(/certificate/)
    await other.stop()
  })

  it('uses no proxy, whatever the environment or the kubeconfig names', async () => {
    const config = parse(server.kubeconfigText('admin')) as { clusters: { cluster: Record<string, string> }[] }
    for (const { cluster } of config.clusters) cluster['proxy-url'] = 'http://127.0.0.1:1'
    const before = process.env['HTTPS_PROXY']
    process.env['HTTPS_PROXY'] = 'http://127.0.0.1:1'
    try {
      expect(await get(connect({ load: kubeconfigText(stringify(config)) }), namespaces)).to.have.property('items')
    } finally {
      if (before === undefined) delete process.env['HTTPS_PROXY']
      else process.env['HTTPS_PROXY'] = before
    }
  })

  it('tells what became of each call', async () => {
    const finished: FinishedCall[] = []
    const connection = connect({ onCall: (call) => finished.push(call) })

    await get(connection, namespaces)
    await errorOf(get(connection, `${namespaces}/none`))

    expect(finished).to.deep.equal([
      { method: 'GET', outcome: 'ok', durationMs: 0 },
      { method: 'GET', outcome: 'not-found', durationMs: 0 },
    ])
  })

  describe('as somebody', () => {
    it('merges several kubeconfig files', async () => {
      const config = parse(server.kubeconfigText('admin')) as Record<string, unknown>
      const [first, second] = [join(folder, 'a'), join(folder, 'b')]
      await writeFile(first, stringify({ ...config, clusters: [], users: [] }))
      await writeFile(second, stringify({ ...config, contexts: [], 'current-context': 'other' }))

      expect(await get(connect({ load: kubeconfigFiles([first, second]) }), namespaces)).to.have.property('items')
    })

    it('reads the credentials again after a 401 and repeats the call', async () => {
      let config = server.kubeconfigText('admin')
      const connection = connect({ load: () => kubeconfigText(config)() })
      await get(connection, namespaces)
      await clock.step(5_000)

      server.users.revoke('admin')
      server.users.add({ name: 'admin', groups: ['system:masters'] })
      config = server.kubeconfigText('admin')

      expect(await get(connection, namespaces)).to.have.property('items')
    })

    it('does not read them again for every 401', async () => {
      let loads = 0
      const text = server.kubeconfigText('admin')
      const load: LoadKubeConfig = () => (loads++, kubeconfigText(text)())
      const connection = connect({ load })
      server.users.revoke('admin')

      for (let i = 0; i < 5; i++) expect(await errorOf(get(connection, namespaces))).to.include({ kind: 'denied' })
      expect(loads).to.equal(1)
      await clock.step(5_000)
      for (let i = 0; i < 5; i++) await errorOf(get(connection, namespaces))

      expect(loads).to.equal(2)
    })

    it("uses the pod's service account and reads its token again every minute", async () => {
      const account = join(folder, 'var/run/secrets/kubernetes.io/serviceaccount')
      await mkdir(account, { recursive: true })
      await writeFile(join(account, 'ca.crt'), server.caCertificate)
      await writeFile(join(account, 'token'), `${server.users.add({ name: 'first' })}\n`)
      const { hostname, port } = new URL(server.url)
      Object.assign(process.env, { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port })
      const connection = connect({ load: podServiceAccount(folder) })
      await get(connection, namespaces)

      await writeFile(join(account, 'token'), server.users.add({ name: 'second' }))
      await clock.step(59_000)
      await get(connection, namespaces)
      await clock.step(1_000)
      await get(connection, namespaces)
      delete process.env['KUBERNETES_SERVICE_HOST']
      delete process.env['KUBERNETES_SERVICE_PORT']

      expect(server.log.entries.map(({ user }) => user.username)).to.deep.equal(['first', 'first', 'second'])
      expect(server.connections).to.be.at.most(2)
    })

    it('keeps the last credentials while they cannot be read', async () => {
      let broken = false
      const text = server.kubeconfigText('admin')
      const connection = connect({
        load() {
          if (broken) throw new Error('half a file')
          return kubeconfigText(text)()
        },
      })
      await get(connection, namespaces)

      broken = true
      await clock.step(60_000)

      expect(await get(connection, namespaces)).to.have.property('items')
    })

    it('asks a credential plugin once until its answer expires or is refused', async () => {
      const runs = join(folder, 'runs')
      const script = join(folder, 'plugin.mjs')
      await writeFile(
        script,
        `import { appendFileSync } from 'node:fs'
         appendFileSync(${JSON.stringify(runs)}, 'x')
         console.log(JSON.stringify({ kind: 'ExecCredential', status: { token: ${JSON.stringify(server.users.tokenOf('admin'))} } }))`,
      )
      const config = parse(server.kubeconfigText('admin')) as { users: { user: unknown }[] }
      const apiVersion = 'client.authentication.k8s.io/v1'
      for (const user of config.users) user.user = { exec: { apiVersion, command: process.execPath, args: [script] } }
      const connection = connect({ load: kubeconfigText(stringify(config)) })

      await Promise.all([get(connection, namespaces), get(connection, namespaces)])
      await clock.step(61_000)
      await get(connection, namespaces)

      expect(await readFile(runs, 'utf8')).to.equal('x')
    })

    it('connects anew when the server or its authority changes', async () => {
      const other = await EmbeddedKubernetes.start()
      await other.create('namespaces', { metadata: { name: 'moved' } })
      let config = server.kubeconfigText('admin')
      const connection = connect({ load: () => kubeconfigText(config)() })
      await get(connection, namespaces)

      config = other.kubeconfigText('admin')
      await clock.step(60_000)

      expect(await get(connection, `${namespaces}/moved`)).to.have.nested.property('metadata.name', 'moved')
      await other.stop()
    })
  })

  describe('streaming', () => {
    const watch = { method: 'GET', path: namespaces, query: { watch: true, resourceVersion: '0' } } as const

    async function read(chunks: AsyncIterable<Uint8Array>, onText: (text: string) => void): Promise<void> {
      let text = ''
      for await (const chunk of chunks) onText((text += Buffer.from(chunk).toString()))
    }

    it('hands on bytes as they come, past any time-out, until the server ends', async () => {
      const connection = connect()
      const chunks = await connection.openStream({ ...watch, signal: never })
      let heard = ''

      await clock.step(600_000)
      await read(chunks, (text) => {
        heard = text
        if (text.includes('kube-system')) server.watches.end()
      })

      expect(heard).to.include('"name":"default"')
      expect(clock.pendingTimers).to.equal(0)
    })

    it('is unavailable when it is cut', async () => {
      const chunks = await connect().openStream({ ...watch, signal: never })

      const error = await errorOf(read(chunks, () => server.watches.cut()))

      expect(error.kind).to.equal('unavailable')
    })

    it('ends when its caller aborts, and leaves nothing open at the server', async () => {
      const controller = new AbortController()
      const chunks = await connect().openStream({ ...watch, signal: controller.signal })

      const error = await errorOf(read(chunks, () => controller.abort()))
      while (server.watches.requests.length > 0) await new Promise((resolve) => setImmediate(resolve))

      expect(error.kind).to.equal('unavailable')
    })

    it('does not wait for an answer for ever, and maps a refusal', async () => {
      const connection = connect()
      server.failNext(1, () => true, { kind: 'hang' })
      const arrived = requestArrived()
      const hanging = errorOf(connection.openStream({ ...watch, signal: never }))
      await arrived
      await clock.step(10_000)
      expect((await hanging).kind).to.equal('unavailable')

      server.failNext(1, () => true, { kind: 'status', code: 410 })
      expect((await errorOf(connection.openStream({ ...watch, signal: never }))).kind).to.equal('gone')
    })
  })
})
