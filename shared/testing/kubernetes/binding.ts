import { childOf, type KubeObject, stringOf } from './objects.ts'
import type { Place } from './place.ts'
import type { Registry, WriteContext } from './registry.ts'
import { resourceTypeNamed } from './resource-types.ts'
import type { UserInfo } from './users.ts'

const claims = resourceTypeNamed('persistentvolumeclaims')
const volumes = resourceTypeNamed('persistentvolumes')

export const bindCompleted = 'pv.kubernetes.io/bind-completed'
const boundByController = 'pv.kubernetes.io/bound-by-controller'

/** A service account of kube-system, as the controllers write. */
export function controllerUser(name: string): UserInfo {
  return {
    username: `system:serviceaccount:kube-system:${name}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  }
}

export const binder = controllerUser('persistent-volume-binder')

export function writeContext(user: UserInfo, kind = 'UpdateOptions'): WriteContext {
  return { user, dryRun: false, warnings: [], options: { kind, apiVersion: 'meta.k8s.io/v1' } }
}

export function claimPlace(namespace: string | undefined, name: string, subresource: Place['subresource'] = ''): Place {
  return { type: claims, namespace, name, subresource }
}

export function volumePlace(name: string, subresource: Place['subresource'] = ''): Place {
  return { type: volumes, namespace: undefined, name, subresource }
}

/**
 * Binds in four writes, in the order seen on kube-controller-manager 1.34: the volume's claimRef, the volume's status, the
 * claim itself, the claim's status. Each is left out where its result is already there, so that an interrupted binding
 * can be taken up again. Rejects when the volume belongs to another claim.
 */
export async function bindClaim(registry: Registry, claim: KubeObject, volumeName: string): Promise<void> {
  const { namespace, name, uid } = claim.metadata
  const volume = registry.get(volumePlace(volumeName))
  requireFree(volume, claim)
  const context = writeContext(binder)
  const reference = childOf(volume.spec, 'claimRef')
  if (reference['uid'] !== uid) {
    await registry.update(
      volumePlace(volumeName),
      (current) => withClaimRef(requireFree(current, claim), claim),
      context,
    )
  }
  await setVolumePhase(registry, volumeName, 'Bound')
  await registry.update(claimPlace(namespace, name), (current) => withVolume(current, volumeName), context)
  await registry.update(claimPlace(namespace, name, 'status'), (current) => withBoundStatus(current, volume), context)
}

export async function setVolumePhase(registry: Registry, volumeName: string, phase: string): Promise<void> {
  const place = volumePlace(volumeName, 'status')
  await registry.update(
    place,
    (current) => ({ ...current, status: { ...current.status, phase } }),
    writeContext(binder),
  )
}

function requireFree(volume: KubeObject, claim: KubeObject): KubeObject {
  if (isFreeFor(volume, claim)) return volume
  throw new Error(`volume ${volume.metadata.name} is already bound to a different claim`)
}

/** Nobody's, kept for a claim of this name, or bound to this very claim. */
export function isFreeFor({ spec }: KubeObject, { metadata }: KubeObject): boolean {
  const reference = childOf(spec, 'claimRef')
  const uid = stringOf(reference, 'uid')
  if (Object.keys(reference).length === 0) return true
  if (reference['namespace'] !== metadata.namespace || reference['name'] !== metadata.name) return false
  return uid === undefined || uid === metadata.uid
}

function withClaimRef(volume: KubeObject, { metadata }: KubeObject): KubeObject {
  const unclaimed = volume.spec?.['claimRef'] === undefined
  const { namespace, name, uid, resourceVersion } = metadata
  const claimRef = { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion }
  return {
    ...volume,
    metadata: unclaimed ? annotated(volume, { [boundByController]: 'yes' }) : volume.metadata,
    spec: { ...volume.spec, claimRef },
  }
}

function withVolume(claim: KubeObject, volumeName: string): KubeObject {
  const chosenByController = stringOf(claim.spec, 'volumeName') === undefined
  return {
    ...claim,
    metadata: annotated(claim, {
      [bindCompleted]: 'yes',
      ...(chosenByController ? { [boundByController]: 'yes' } : {}),
    }),
    spec: { ...claim.spec, volumeName },
  }
}

function withBoundStatus(claim: KubeObject, volume: KubeObject): KubeObject {
  const { accessModes, capacity } = volume.spec ?? {}
  return { ...claim, status: { ...claim.status, phase: 'Bound', accessModes, capacity } }
}

function annotated({ metadata }: KubeObject, annotations: Record<string, string>): KubeObject['metadata'] {
  return { ...metadata, annotations: { ...metadata.annotations, ...annotations } }
}
