import type { KubeObject } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import type { Tags } from '../ledger/tag-differences.ts'
import { diskIdFor, driverTags } from '../world/demo-disks.ts'
import type { Stage } from './act.ts'

export interface NewClaim {
  readonly namespace: string
  readonly name: string
  readonly labels: Tags
  readonly storageClassName?: string
  readonly volumeName?: string
}

/** Creates a claim whose disk EBS makes, and says how that disk has to look: the driver's own tags and the labels. */
export async function createTaggedClaim({ world, expected }: Stage, claim: NewClaim): Promise<void> {
  const created = await world.kubernetes.createClaim({ storageClassName: 'gp3', ...claim })
  const key = keyOf(created)
  expected.expect(diskIdFor(key), key, { ...driverTags(created), ...claim.labels })
}

/** Before claims are created side by side, of which each would create it. */
export async function ensureNamespace({ world: { kubernetes } }: Stage, name: string): Promise<void> {
  if (kubernetes.get('namespaces', name) === undefined) await kubernetes.createNamespace(name)
}

export function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** A sentence for each of these claims that was last written by somebody else. */
export function notWrittenBy({ ledger }: Stage, door: RegExp, keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => {
    const written = ledger.entry(key)?.door
    if (written !== undefined && door.test(written)) return []
    return [
      `${key} was last written by ${written ?? 'nobody'}, and should have been by ${door.source.replaceAll(/\W/gu, '')}`,
    ]
  })
}
