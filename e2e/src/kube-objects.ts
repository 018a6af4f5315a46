/** The few fields that scenarios use, as JSON carries them: times stay strings. */
export interface ObjectMeta {
  readonly name: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
}

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** An object as the API server returns it. */
export type Stored<T extends KubeObject> = T & {
  readonly metadata: T['metadata'] & { readonly uid: string; readonly resourceVersion: string }
}

export interface PersistentVolumeClaim extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[]
    readonly resources: { readonly requests: { readonly storage: string } }
    readonly storageClassName?: string
    readonly volumeName?: string
    readonly volumeMode?: string
  }
  readonly status?: { readonly phase?: string }
}

export interface PersistentVolume extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[]
    readonly capacity: { readonly storage: string }
    readonly persistentVolumeReclaimPolicy?: string
    readonly storageClassName?: string
    readonly volumeMode?: string
    readonly claimRef?: {
      readonly apiVersion?: string
      readonly kind?: string
      readonly namespace: string
      readonly name: string
      readonly uid?: string
      readonly resourceVersion?: string
    }
    readonly csi?: {
      readonly driver: string
      readonly volumeHandle: string
      readonly fsType?: string
      readonly volumeAttributes?: Readonly<Record<string, string>>
    }
    readonly [other: string]: unknown
  }
  readonly status?: { readonly phase?: string }
}

export interface StorageClass extends KubeObject {
  readonly provisioner: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly reclaimPolicy?: string
  readonly volumeBindingMode?: string
  readonly allowVolumeExpansion?: boolean
}

/** events.k8s.io/v1. */
export interface KubeEvent extends KubeObject {
  readonly type?: string
  readonly reason?: string
  readonly note?: string
  readonly action?: string
  readonly reportingController?: string
  readonly regarding?: {
    readonly kind?: string
    readonly namespace?: string
    readonly name?: string
    readonly uid?: string
  }
  readonly series?: { readonly count?: number }
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}
