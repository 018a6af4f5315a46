import { randomBytes } from 'node:crypto'
import type { Clock } from '../../src/runtime/clock.ts'
import {
  bindClaim,
  bindCompleted,
  binder,
  claimPlace,
  controllerUser,
  isFreeFor,
  setVolumePhase,
  volumePlace,
  writeContext,
} from './binding.ts'
import { KeyQueue } from './key-queue.ts'
import type { StoreEvent } from './object-store.ts'
import { childOf, keyOf, type KubeObject, storeKey, stringOf } from './objects.ts'
import type { Place } from './place.ts'
import type { Registry } from './registry.ts'
import { resourceTypeNamed } from './resource-types.ts'
import { VolumeIndex } from './volume-index.ts'

/** What a CSI provisioner makes of a claim. */
export interface ProvisionedDisk {
  readonly handle: string
  /** Default ebs.csi.aws.com. */
  readonly driver?: string
}

export interface VolumeControllerOptions {
  /** From a claim's creation to its binding, and from the wish for a disk to the disk. Default 0. */
  readonly delayMs?: number
  /** Makes disks for claims of StorageClasses with volumeBindingMode Immediate. `true` makes up handles. */
  readonly provision?: true | ((claim: KubeObject) => ProvisionedDisk | undefined)
}

const claimType = resourceTypeNamed('persistentvolumeclaims')
const volumeType = resourceTypeNamed('persistentvolumes')
const retryDelayMs = 200

/** The parts of kube-controller-manager that claims and volumes need: binder, both protections, and a provisioner. */
export class VolumeController {
  readonly #registry: Registry
  readonly #options: VolumeControllerOptions
  readonly #index = new VolumeIndex()
  readonly #claims: KeyQueue
  readonly #volumes: KeyQueue
  /** Volumes that are being bound right now: two claims handled at the same time must not choose one. */
  readonly #chosen = new Set<string>()
  readonly #unsubscribe: (() => void)[] = []

  constructor(registry: Registry, clock: Clock, options: VolumeControllerOptions) {
    this.#registry = registry
    this.#options = options
    this.#claims = new KeyQueue({ clock, retryDelayMs, handle: (key) => this.#reconcileClaim(key) })
    this.#volumes = new KeyQueue({ clock, retryDelayMs, handle: (name) => this.#reconcileVolume(name) })
  }

  start(): void {
    this.#unsubscribe.push(
      this.#registry.storeOf(claimType).subscribe((event) => this.#onClaim(event)),
      this.#registry.storeOf(volumeType).subscribe((event) => this.#onVolume(event)),
    )
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#claims.stop()
    this.#volumes.stop()
  }

  #onClaim({ type, object }: StoreEvent): void {
    const volumeName = stringOf(object.spec, 'volumeName')
    if (type === 'DELETED') {
      this.#index.stopWaiting(keyOf(object))
      if (volumeName !== undefined) this.#volumes.add(volumeName)
    } else {
      this.#claims.add(keyOf(object), type === 'ADDED' ? (this.#options.delayMs ?? 0) : 0)
    }
  }

  #onVolume({ type, object }: StoreEvent): void {
    if (type === 'DELETED') return this.#index.remove(object)
    this.#index.put(object)
    this.#volumes.add(object.metadata.name)
  }

  async #reconcileClaim(key: string): Promise<void> {
    const claim = this.#registry.storeOf(claimType).get(key)
    if (claim === undefined) return
    const { metadata, status } = claim
    if (metadata.deletionTimestamp !== undefined) {
      await this.#unprotect(claimPlace(metadata.namespace, metadata.name), claim)
      return
    }
    const bound = metadata.annotations?.[bindCompleted] === 'yes' && status?.['phase'] === 'Bound'
    if (bound) return this.#index.stopWaiting(key)
    const volumeName = this.#volumeFor(claim)
    if (volumeName !== undefined) {
      this.#index.stopWaiting(key)
      await this.#bind(claim, volumeName)
      // One free volume wakes one waiting claim, and this one may have been woken by two.
      const next = this.#index.nextWaiting(claim)
      if (next !== undefined) this.#claims.add(next)
      return
    }
    this.#index.wait(claim)
    await this.#provision(claim)
  }

  async #bind(claim: KubeObject, volumeName: string): Promise<void> {
    this.#chosen.add(volumeName)
    try {
      await bindClaim(this.#registry, claim, volumeName)
    } finally {
      this.#chosen.delete(volumeName)
    }
  }

  /** The volume that the claim names, one that names the claim, or any free one of its class; sizes are not looked at. */
  #volumeFor(claim: KubeObject): string | undefined {
    const named = stringOf(claim.spec, 'volumeName')
    const candidates = named === undefined ? this.#index.candidatesFor(claim) : [named]
    for (const name of candidates) {
      const volume = this.#chosen.has(name) ? undefined : this.#registry.storeOf(volumeType).get(name)
      if (volume === undefined || volume.metadata.deletionTimestamp !== undefined) continue
      if (
        isFreeFor(volume, claim) &&
        stringOf(volume.spec, 'storageClassName') === stringOf(claim.spec, 'storageClassName')
      ) {
        return name
      }
    }
    return undefined
  }

  async #provision(claim: KubeObject): Promise<void> {
    const { provision } = this.#options
    if (provision === undefined || stringOf(claim.spec, 'volumeName') !== undefined) return
    if (this.#registry.storeOf(volumeType).get(`pvc-${claim.metadata.uid}`) !== undefined) return
    const className = stringOf(claim.spec, 'storageClassName')
    const storageClass =
      className === undefined ? undefined : this.#registry.storeOf(resourceTypeNamed('storageclasses')).get(className)
    if (storageClass === undefined || storageClass['volumeBindingMode'] !== 'Immediate') return
    const disk = provision === true ? { handle: `vol-0${randomBytes(8).toString('hex')}` } : provision(claim)
    if (disk !== undefined) await provisionVolume(this.#registry, claim, disk)
  }

  async #reconcileVolume(name: string): Promise<void> {
    const volume = this.#registry.storeOf(volumeType).get(name)
    if (volume === undefined) return
    const phase = volume.status?.['phase']
    if (volume.metadata.deletionTimestamp !== undefined && phase !== 'Bound') {
      return this.#unprotect(volumePlace(name), volume)
    }
    const reference = childOf(volume.spec, 'claimRef')
    const claimName = stringOf(reference, 'name')
    if (reference['uid'] === undefined && phase === 'Pending') {
      await setVolumePhase(this.#registry, name, 'Available')
    } else if (claimName === undefined) {
      for (const key of this.#index.waitingFor(volume)) this.#claims.add(key)
    } else {
      await this.#reconcileClaimed(volume, storeKey(stringOf(reference, 'namespace'), claimName))
    }
  }

  async #reconcileClaimed(volume: KubeObject, claimKey: string): Promise<void> {
    const claim = this.#registry.storeOf(claimType).get(claimKey)
    if (claim !== undefined && isFreeFor(volume, claim)) {
      if (volume.status?.['phase'] !== 'Bound') this.#claims.add(claimKey)
    } else if (stringOf(childOf(volume.spec, 'claimRef'), 'uid') !== undefined) {
      await this.#release(volume)
    }
  }

  /** Its claim is gone: kept as Released, or deleted with the disk. */
  async #release(volume: KubeObject): Promise<void> {
    const { name } = volume.metadata
    if (volume.status?.['phase'] !== 'Released') return setVolumePhase(this.#registry, name, 'Released')
    if (volume.spec?.['persistentVolumeReclaimPolicy'] !== 'Delete') return
    await this.#registry.delete(volumePlace(name), {}, writeContext(binder, 'DeleteOptions'))
  }

  async #unprotect(place: Place, { metadata }: KubeObject): Promise<void> {
    const finalizer = metadata.finalizers?.find((entry) => protections.has(entry))
    if (finalizer === undefined) return
    const user = controllerUser(protections.get(finalizer) ?? '')
    await this.#registry.update(
      place,
      (current) => ({
        ...current,
        metadata: {
          ...current.metadata,
          finalizers: current.metadata.finalizers?.filter((entry) => entry !== finalizer) ?? [],
        },
      }),
      writeContext(user),
    )
  }
}

/** Each finalizer with the service account of the controller that takes it off. */
const protections: ReadonlyMap<string, string> = new Map([
  ['kubernetes.io/pvc-protection', 'pvc-protection-controller'],
  ['kubernetes.io/pv-protection', 'pv-protection-controller'],
])

/** Creates the volume as the external provisioner does: named after the claim's uid, with the claimRef filled in. */
export function provisionVolume(
  registry: Registry,
  { metadata, spec }: KubeObject,
  disk: ProvisionedDisk,
): Promise<KubeObject> {
  const { namespace, name, uid, resourceVersion } = metadata
  const driver = disk.driver ?? 'ebs.csi.aws.com'
  const body = {
    metadata: { name: `pvc-${uid}`, annotations: { 'pv.kubernetes.io/provisioned-by': driver } },
    spec: {
      capacity: childOf(childOf(spec, 'resources'), 'requests'),
      accessModes: spec?.['accessModes'],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: spec?.['storageClassName'] ?? '',
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion },
      csi: { driver, volumeHandle: disk.handle },
    },
  }
  return registry.create(
    volumeType,
    undefined,
    body,
    writeContext(controllerUser('ebs-csi-controller-sa'), 'CreateOptions'),
  )
}
