import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { AzureFake } from '@k8s-cloud-tagger/shared/testing/azure/azure-fake.ts'
import { answerMs, plainEnvironment, type BenchCloud } from './bench-cloud.ts'
import { describeCounts, tallyOf, throttleEvery } from './tally.ts'

const subscription = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'
const ownGroup = 'MC_bench_aks_westeurope'
const tokens: ReadonlySet<string> = new Set(['Token', 'OpenIdConfiguration'])
const isWrite = (operation: string) => /^(?:Merge|Delete|Replace)Tags$/.test(operation)
// ARM says with every 429 when to come again.
const retryAfterSeconds = 1

/** As on AKS: a cluster's disks lie in its node resource group. */
export async function startAzure({ dir }: { readonly dir: string }): Promise<BenchCloud> {
  const fake = await AzureFake.start({ latencyMs: answerMs, requireToken: true })
  const tokenFile = path.join(dir, 'service-account-token')
  await writeFile(tokenFile, 'token')
  return {
    name: 'azure',
    title: 'Azure',
    csiDriver: 'disk.csi.azure.com',
    product: {
      provider: 'azure',
      config: { resourceManagerEndpoint: fake.url, authorityHost: fake.url },
      env: {
        ...plainEnvironment,
        AZURE_CLIENT_ID: '11111111-2222-3333-4444-555555555555',
        AZURE_TENANT_ID: '66666666-7777-8888-9999-000000000000',
        AZURE_FEDERATED_TOKEN_FILE: tokenFile,
      },
    },
    handleOf: (seed) => diskId(ownGroup, seed),
    diskIdOf: (handle) => handle.toLowerCase(),
    addDisk: (handle, tags = {}) => fake.addDisk(handle, { tags: { ...driverTags, ...tags } }),
    addForeignDisks(count) {
      for (let i = 0; i < count; i++) fake.addDisk(diskId(`MC_other-${i % 10}`, `foreign-${i}`), { tags: driverTags })
    },
    tagsOf: (handle) => fake.tagsOf(handle),
    setTag: (handle, key, value) => fake.setTag(handle, key, value),
    changedAtMs: (handle) => fake.changedAtMs(handle),
    tally: () => tallyOf(fake.counts(), { isWrite, leftOut: tokens }),
    describeCalls: () => describeCounts(fake.counts()),
    resetTally: () => fake.resetCounts(),
    enforceQuota: (on) => fake.enforceBuckets(on),
    throttleEvery: (n) => throttleEvery(fake, n, { isHit: ({ operation }) => isWrite(operation), retryAfterSeconds }),
    hangNextWrite: (handle) => fake.inject({ kind: 'hang' }, { operation: 'MergeTags', ids: [handle] }),
    close: () => fake.close(),
  }
}

function diskId(group: string, seed: string): string {
  const name = createHash('sha256').update(seed).digest('hex').slice(0, 32)
  return `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/disks/pvc-${name}`
}

const driverTags = { 'k8s-azure-created-by': 'kubernetes-azure-dd' }
