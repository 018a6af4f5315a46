import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { gcpMetadata } from 'google-auth-library'
import { GcpFake } from '../../../testing/gcp/gcp-fake.ts'
import type { DiskRef } from '../../claims/disk.ts'
import { systemClock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import type { CallOptions } from '../provider.ts'
import type { RunningProvider } from '../running-provider.ts'
import { createGcpProvider, type GcpProviderDeps } from './gcp-provider.ts'

const disk: DiskRef = { id: 'projects/fake-project/zones/europe-west4-a/disks/d' }
const options: CallOptions = { lane: 'fresh', signal: new AbortController().signal }
const tokenPath = '/computeMetadata/v1/instance/service-accounts/default/token'

describe('GcpProvider, with what it finds in its environment', () => {
  const saved = { ...process.env }
  let fake: GcpFake
  let folder: string
  let provider: RunningProvider

  beforeEach(async () => {
    gcpMetadata.resetIsAvailableCache()
    folder = await mkdtemp(join(tmpdir(), 'gcp-credentials-'))
    fake = await GcpFake.start({ requireToken: true })
    fake.addDisk(disk.id, { labels: { a: '1' } })
  })

  afterEach(async () => {
    process.env = { ...saved }
    await provider.stop()
    await fake.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function start(
    variables: Readonly<Record<string, string>>,
    more: Partial<GcpProviderDeps> = {},
  ): Promise<void> {
    const others = Object.entries(saved).filter(
      ([name]) => !/^(?:GOOGLE|GCE|GCLOUD|CLOUDSDK|METADATA)_|_PROXY$/i.test(name),
    )
    process.env = { ...Object.fromEntries(others), HOME: folder, CLOUDSDK_CONFIG: folder, ...variables }
    provider = await createGcpProvider({
      clock: systemClock,
      random: { next: () => 0.5 },
      logger: silentLogger,
      metrics: noCloudMetrics,
      budget: { profile: 'exclusive', share: 1 },
      endpoint: fake.url,
      project: 'fake-project',
      ...more,
    })
  }

  const read = async () => (await provider.getTags(disk, options)).tags.get('a')
  const failedRead = () => read().catch((error: unknown) => error)

  /** As the metadata server is asked by others: ten reads at once. */
  const manyReads = () => Promise.all(Array.from({ length: 10 }, read))

  it('asks the metadata server for a token once, and only with the first call', async () => {
    await start({ GCE_METADATA_HOST: fake.host })
    const before = { ...fake.identity.counts }

    await manyReads()
    await manyReads()

    expect(before).to.deep.equal({})
    expect(fake.identity.counts[tokenPath]).to.equal(1)
  })

  it('asks the metadata server for the project where a volume names none', async () => {
    await start({ GCE_METADATA_HOST: fake.host }, { project: undefined })
    const nameless = { id: disk.id.replace('fake-project', 'UNSPECIFIED') }

    const { tags } = await provider.getTags(nameless, options)

    expect(tags.get('a')).to.equal('1')
    expect(provider.scopeOf(nameless)).to.equal('gcp/fake-project')
  })

  it('says what to configure where nobody knows the project', async () => {
    await start({ GCE_METADATA_HOST: '127.0.0.1:1' }, { project: undefined })
    const nameless = { id: disk.id.replace('fake-project', 'UNSPECIFIED') }

    const error = await provider.getTags(nameless, options).catch((thrown: unknown) => thrown)

    expect(error).to.include({ kind: 'unavailable', code: 'ECONNREFUSED', outcomeUnknown: false })
    expect(String(error)).to.contain('gcp.project is not set')
  })

  it('finds a metadata server that was not there at first', async () => {
    await start({ GCE_METADATA_HOST: '127.0.0.1:1' })
    const first = await failedRead()
    process.env['GCE_METADATA_HOST'] = fake.host

    const second = await read()

    expect(first).to.include({ kind: 'denied', code: 'NoCredentials', outcomeUnknown: false })
    expect(second).to.equal('1')
  })

  it('says unavailable while the metadata server is not ready, and finds it afterwards', async () => {
    await start({ GCE_METADATA_HOST: fake.host, METADATA_SERVER_DETECTION: 'assume-present' })
    fake.identity.metadataIsDown = true
    const first = await failedRead()
    fake.identity.metadataIsDown = false

    const second = await read()

    expect(first).to.include({ kind: 'unavailable', outcomeUnknown: false })
    expect(second).to.equal('1')
    expect(fake.count('disks.get').calls).to.equal(1)
  })

  it('takes a new token where the old one is not known any more', async () => {
    await start({ GCE_METADATA_HOST: fake.host })
    await read()
    fake.identity.revokeAll()

    const refused = await failedRead()
    const after = await read()

    expect(refused).to.include({ kind: 'denied', code: 'authError' })
    expect(after).to.equal('1')
    expect(fake.count('disks.get').calls).to.equal(3)
  })

  it('exchanges the token of a cluster outside of Google, and becomes the account that the file names', async () => {
    const file = join(folder, 'credentials.json')
    await writeFile(join(folder, 'token'), 'token-of-the-service-account')
    await writeFile(
      file,
      JSON.stringify({
        type: 'external_account',
        audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/p',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${fake.url}/v1/token`,
        service_account_impersonation_url: `${fake.url}/v1/projects/-/serviceAccounts/tagger@p.iam.gserviceaccount.com:generateAccessToken`,
        credential_source: { file: join(folder, 'token') },
      }),
    )
    await start({ GOOGLE_APPLICATION_CREDENTIALS: file })

    await manyReads()

    expect(fake.identity.counts).to.deep.equal({
      '/v1/token': 1,
      '/v1/projects/-/serviceAccounts/tagger@p.iam.gserviceaccount.com:generateAccessToken': 1,
    })
  })

  it('says denied, and calls nobody, where there are no credentials', async () => {
    await start({ METADATA_SERVER_DETECTION: 'none' })

    const error = await failedRead()

    expect(error).to.include({ kind: 'denied', code: 'NoCredentials', outcomeUnknown: false })
    expect(String(error)).to.contain('Could not load the default credentials')
    expect(fake.counts()).to.deep.equal({})
  })

  it('says denied where the credentials file is not there', async () => {
    await start({ GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'missing.json') })

    expect(await failedRead()).to.include({ kind: 'denied', outcomeUnknown: false })
  })

  it('gives up a metadata server that never answers, and says that it was this', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    await start(
      {
        GCE_METADATA_HOST: `127.0.0.1:${(silent.address() as AddressInfo).port}`,
        METADATA_SERVER_DETECTION: 'assume-present',
      },
      { callTimeoutMs: 200 },
    )

    const error = await failedRead()

    expect(error).to.include({ kind: 'unavailable', code: 'TimeoutError', outcomeUnknown: false })
    expect(String(error)).to.contain('no token within 180 ms')
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
  })

  it('goes through the proxy that it was given', async () => {
    const asked: string[] = []
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '')
      const { headers, method = 'GET', url = '' } = request
      const onward = httpRequest(`${fake.url}${new URL(url).pathname}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      request.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    await start(
      { GCE_METADATA_HOST: fake.host },
      { endpoint: 'http://localhost:9', proxyEnv: { HTTP_PROXY: proxyUrl } },
    )

    expect(await read()).to.equal('1')
    expect(asked).to.have.length(1)
    expect(asked[0]).to.contain('http://localhost:9/compute/v1/projects/fake-project/zones/europe-west4-a/disks/d')
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  })
})
