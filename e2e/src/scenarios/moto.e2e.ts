import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../cluster.ts'
import { setUpCluster } from '../cluster-setup.ts'
import { startMoto, type Moto } from '../moto.ts'
import { Product, region } from '../product.ts'
import { scenarioFolder } from '../scenario-folder.ts'
import { startCluster } from '../start-cluster.ts'
import { byHand, gp3, newClaim, provisionVolume, volumeByHand } from '../volumes.ts'

const namespace = 'e2e-moto'

/** What our own fake believes about EC2 is checked against one that nobody here wrote. */
describe('the product with moto as its EC2', () => {
  let moto: Moto
  let cluster: Cluster
  let product: Product

  before('starts', async () => {
    const dir = scenarioFolder('moto')
    moto = await startMoto({ dir, report: console.log })
    cluster = await startCluster({ dir, kcmQps: 500, kcmBurst: 1000 })
    const setup = await setUpCluster(cluster, { dir })
    await cluster.kube.apply(gp3, byHand)
    await cluster.kube.createNamespace(namespace)
    product = await Product.start({ cluster, setup, dir, ec2Url: moto.url })
  })

  after('stops', async () => {
    await product?.stop()
    await cluster?.stop()
    await moto?.stop()
  })

  /** One call of EC2's query API; moto checks no signature. */
  async function ec2(parameters: Readonly<Record<string, string>>): Promise<string> {
    const response = await fetch(moto.url, {
      method: 'POST',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/ec2/aws4_request`,
        'x-amz-date': '20260101T000000Z',
      },
      body: new URLSearchParams({ Version: '2016-11-15', ...parameters }),
    })
    return response.text()
  }

  async function createVolume(): Promise<string> {
    const created = await ec2({ Action: 'CreateVolume', AvailabilityZone: `${region}a`, Size: '1' })
    return /<volumeId>(?<id>vol-[0-9a-f]+)</u.exec(created)?.groups?.['id'] ?? ''
  }

  async function tagsOf(volumeId: string): Promise<Record<string, string>> {
    const described = await ec2({ Action: 'DescribeVolumes', 'VolumeId.1': volumeId })
    const tags = described.matchAll(/<key>(?<key>[^<]*)<\/key>\s*<value>(?<value>[^<]*)<\/value>/gu)
    return Object.fromEntries([...tags].map(({ groups }) => [groups?.['key'] ?? '', groups?.['value'] ?? '']))
  }

  async function untilTags(volumeId: string, wish: Record<string, string>): Promise<void> {
    for (let tries = 0; tries < 100; tries++) {
      const tags = await tagsOf(volumeId)
      const keys = Object.keys(wish)
      if (keys.length === Object.keys(tags).length && keys.every((key) => tags[key] === wish[key])) return
      await sleep(100)
    }
    expect(await tagsOf(volumeId)).to.deep.equal(wish)
  }

  it('tags the volume of a new claim, follows its labels, and removes what is its own only', async () => {
    const { kube } = cluster
    const volumeHandle = await createVolume()
    const claim = await kube.claims.create(newClaim('new', { namespace, labels: { team: 'core', env: 'prod' } }))
    await provisionVolume(kube, claim, { volumeHandle })
    await untilTags(volumeHandle, { team: 'core', env: 'prod' })
    await ec2({ Action: 'CreateTags', 'ResourceId.1': volumeHandle, 'Tag.1.Key': 'hand', 'Tag.1.Value': 'made' })

    await kube.claims.label(claim, { team: 'data', env: null, 'app.kubernetes.io/name': 'db' })

    await untilTags(volumeHandle, { team: 'data', 'app.kubernetes.io/name': 'db', hand: 'made' })
  })

  it('reads a volume first that was there before', async () => {
    const { kube } = cluster
    const volumeHandle = await createVolume()
    await ec2({ Action: 'CreateTags', 'ResourceId.1': volumeHandle, 'Tag.1.Key': 'team', 'Tag.1.Value': 'finance' })
    const options = { volumeHandle, claim: { namespace, name: 'old' } }
    const volume = await kube.volumes.create(volumeByHand('e2e-moto-old', options))
    await kube.volumes.waitFor(volume, 'be available', ({ status }) => status?.phase === 'Available')
    const labels = { team: 'core', tier: 'gold' }
    const claim = await kube.claims.create(newClaim('old', { namespace, labels, storageClassName: 'by-hand' }))
    await untilTags(volumeHandle, { team: 'core', tier: 'gold' })

    await kube.claims.label(claim, { team: null, tier: null })

    await untilTags(volumeHandle, { team: 'core' })
  })
})
