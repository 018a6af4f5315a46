import type { ClaimKey } from './claim-key.ts'

/** The few fields of a PersistentVolumeClaim that the product reads. Kept small: the reconciler caches one a claim. */
export interface Claim {
  readonly key: ClaimKey
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** Undefined while the claim is not bound. */
  readonly volumeName: string | undefined
  /** Either form: `spec.storageClassName` or the old annotation `volume.beta.kubernetes.io/storage-class`. */
  readonly storageClassName: string | undefined
  readonly deleting: boolean
}
