/** The few fields of a PersistentVolume that the product reads. */
export interface Volume {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  /** Milliseconds since the epoch. */
  readonly createdAtMs: number
  readonly claimRef: { readonly namespace: string; readonly name: string; readonly uid: string | undefined } | undefined
  readonly source: VolumeSource
  /** The zones that its labels or its node affinity name; Google's older handles leave them out. */
  readonly zones: readonly string[]
  /** Value of `pv.kubernetes.io/provisioned-by`: set by provisioners, and by hand in some guides for static volumes. */
  readonly provisionedBy: string | undefined
  /** Raw value of our annotation `k8s-cloud-tagger/applied`, undefined where there is none. */
  readonly applied: string | undefined
  readonly deleting: boolean
}

export type VolumeSource =
  | { readonly kind: 'csi'; readonly driver: string; readonly handle: string }
  | { readonly kind: 'awsElasticBlockStore'; readonly volumeId: string }
  | { readonly kind: 'azureDisk'; readonly diskUri: string }
  | { readonly kind: 'gcePersistentDisk'; readonly pdName: string }
  /** Any other source by its field name in `spec`, such as `nfs` or `hostPath`; `detail` is its path or name, if it has one. */
  | { readonly kind: 'other'; readonly type: string; readonly detail: string | undefined }
