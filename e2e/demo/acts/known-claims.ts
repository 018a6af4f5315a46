import { appliedAnnotation } from '@k8s-cloud-tagger/shared/claims/annotations.ts'
import { serializeRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import type { World } from '../world/world.ts'
import { diskIdFor } from '../world/demo-disks.ts'
import type { ExpectedDisks } from './expected-disks.ts'
import type { Tags } from '../ledger/tag-differences.ts'

const dayMs = 86_400_000

/**
 * Puts a claim in place that was bound and tagged yesterday, record included. A sweep believes nothing that it reads of
 * a disk that was written within the last two minutes, so only a disk like this can show a repair while somebody watches.
 */
export async function putTaggedYesterday(
  { kubernetes, cloud }: World,
  expected: ExpectedDisks,
  {
    namespace,
    name,
    labels,
    foreign = {},
  }: {
    readonly namespace: string
    readonly name: string
    readonly labels: Tags
    /** Tags of others on the disk. */
    readonly foreign?: Tags
  },
): Promise<{ readonly disk: string; readonly volume: string }> {
  const key = `${namespace}/${name}`
  const disk = diskIdFor(key)
  if (kubernetes.get('namespaces', namespace) === undefined) await kubernetes.createNamespace(namespace)
  const { claim, volume } = kubernetes.seedBoundClaim({ namespace, name, labels, storageClassName: 'gp3' }, disk)
  const record = serializeRecord({
    cloud: 'aws',
    volumeUid: volume.metadata.uid,
    claimUid: claim.metadata.uid,
    diskId: disk,
    settledAtMs: Date.now() - dayMs,
    settled: new Map(Object.entries(labels).map(([label, value]) => [label, { value, before: false }])),
    left: new Map(),
    intent: undefined,
  })
  const annotations = { [appliedAnnotation]: record }
  await kubernetes.patch('persistentvolumes', { metadata: { annotations } }, volume.metadata.name)
  cloud.addVolume(disk, { tags: { ...foreign, ...labels } })
  expected.expect(disk, key, { ...foreign, ...labels })
  return { disk, volume: volume.metadata.name }
}
