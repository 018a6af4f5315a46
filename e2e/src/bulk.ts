import type { Kube } from './kube.ts'
import type { PersistentVolume, PersistentVolumeClaim, Stored } from './kube-objects.ts'
import { newClaim, provisionedVolume, type ClaimOptions, type VolumeOptions } from './volumes.ts'

const defaultConcurrency = 32

/** Runs `work` for 0 … count-1, some at a time, and resolves to the results in order. The first failure ends it. */
export async function inParallel<T>(
  count: number,
  work: (index: number) => Promise<T>,
  { concurrency = defaultConcurrency }: { readonly concurrency?: number } = {},
): Promise<readonly T[]> {
  const results: T[] = []
  let next = 0
  const worker = async () => {
    while (next < count) {
      const index = next++
      results[index] = await work(index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker))
  return results
}

/** A claim and the volume that was written for it, not bound yet. */
export interface ClaimAndVolume {
  readonly claim: Stored<PersistentVolumeClaim>
  readonly volume: Stored<PersistentVolume>
}

export async function claimWithVolume(
  kube: Kube,
  name: string,
  options: ClaimOptions & VolumeOptions = {},
): Promise<ClaimAndVolume> {
  const claim = await kube.claims.create(newClaim(name, options))
  return { claim, volume: await kube.volumes.create(provisionedVolume(claim, options)) }
}

/**
 * The write by which the volume controller binds a claim, which is the one that the webhook is asked about; with
 * `status`, its second write too. For loads that the controller itself, one claim after another, would hold up.
 */
export async function bindClaim(
  kube: Kube,
  { claim, volume }: ClaimAndVolume,
  { status = true }: { readonly status?: boolean } = {},
): Promise<Stored<PersistentVolumeClaim>> {
  const bound = await kube.claims.patch(claim, {
    metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
    spec: { volumeName: volume.metadata.name },
  })
  if (!status) return bound
  const { accessModes, capacity } = volume.spec
  await kube.volumes.patch(volume, { status: { phase: 'Bound' } }, { subresource: 'status' })
  return kube.claims.patch(claim, { status: { phase: 'Bound', accessModes, capacity } }, { subresource: 'status' })
}
