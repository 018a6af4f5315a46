import { createHash } from 'node:crypto'
import { GcpFake } from '@k8s-cloud-tagger/shared/testing/gcp/gcp-fake.ts'
import { answerMs, plainEnvironment, type BenchCloud } from './bench-cloud.ts'
import { describeCounts, tallyOf, throttleEvery } from './tally.ts'

const project = 'fake-project'
const zones = ['europe-west4-a', 'europe-west4-b', 'europe-west4-c']
const isWrite = (operation: string) => operation.endsWith('.setLabels')

/** In the zones of a region, by turns; names of all clusters lie mixed, as those of provisioned disks do. */
export async function startGcp(): Promise<BenchCloud> {
  const fake = await GcpFake.start({ latencyMs: answerMs, project, requireToken: true })
  return {
    name: 'gcp',
    title: 'Google Cloud',
    csiDriver: 'pd.csi.storage.gke.io',
    product: {
      provider: 'gcp',
      config: { endpoint: fake.url, project },
      env: { ...plainEnvironment, GCE_METADATA_HOST: fake.host },
    },
    handleOf,
    diskIdOf: (handle) => handle,
    addDisk: (handle, labels = {}) => fake.addDisk(handle, { labels: { ...clusterLabels('bench'), ...labels } }),
    addForeignDisks(count) {
      for (let i = 0; i < count; i++) {
        fake.addDisk(handleOf(`foreign-${i}`), { labels: clusterLabels(`other-${i % 10}`) })
      }
    },
    tagsOf: (handle) => fake.labelsOf(handle),
    setTag: (handle, key, value) => fake.setLabel(handle, key, value),
    changedAtMs: (handle) => fake.changedAtMs(handle),
    tally: () => tallyOf(fake.counts(), { isWrite }),
    describeCalls: () => describeCounts(fake.counts()),
    resetTally: () => fake.resetCounts(),
    enforceQuota: (on) => fake.enforceQuota(on),
    throttleEvery: (n) => throttleEvery(fake, n, { isHit: ({ operation }) => isWrite(operation) }),
    hangNextWrite: (handle) => fake.inject({ kind: 'hang' }, { operation: 'setLabels', ids: [handle] }),
    close: () => fake.close(),
  }
}

function handleOf(seed: string): string {
  const hash = createHash('sha256').update(seed).digest()
  const zone = zones[hash.readUInt32BE(0) % zones.length] ?? ''
  return `projects/${project}/zones/${zone}/disks/pvc-${hash.toString('hex').slice(0, 32)}`
}

/** As GKE labels the disks that it provisions. */
function clusterLabels(cluster: string): Record<string, string> {
  return { 'goog-gke-volume': '', 'goog-k8s-cluster-name': cluster }
}
