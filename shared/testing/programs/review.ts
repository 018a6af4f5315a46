/** The fields of a claim that matter to a review. */
export interface ReviewedObject {
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly volumeName?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly generateName?: string
  readonly deletionTimestamp?: string | null
}

export interface ReviewOptions {
  readonly uid?: string
  /** Empty for an object that is named by `generateName`. */
  readonly name?: string
  readonly operation?: string
  readonly resource?: { readonly group: string; readonly version: string; readonly resource: string }
  readonly subResource?: string
  readonly dryRun?: boolean
  readonly object?: ReviewedObject | null
  readonly oldObject?: ReviewedObject | null
}

/** An AdmissionReview as the API server sends it: the bind of claim `db/data-0` where nothing else is said. */
export function admissionReview(options: ReviewOptions = {}) {
  const { object = {}, oldObject = null, resource = claims, operation = 'UPDATE' } = options
  const kind = { group: resource.group, version: resource.version, kind: 'PersistentVolumeClaim' }
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: options.uid ?? '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind,
      resource,
      ...(options.subResource !== undefined && { subResource: options.subResource }),
      requestKind: kind,
      requestResource: resource,
      ...(options.name !== '' && { name: options.name ?? object?.name ?? 'data-0' }),
      namespace: object?.namespace ?? 'db',
      operation,
      userInfo: { username: 'system:serviceaccount:kube-system:persistent-volume-binder' },
      object: object && claimObject(object),
      oldObject: oldObject && claimObject(oldObject),
      dryRun: options.dryRun ?? false,
      options: { kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  }
}

const claims = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }

function claimObject({ volumeName, ...metadata }: ReviewedObject): object {
  return {
    kind: 'PersistentVolumeClaim',
    apiVersion: 'v1',
    metadata: { namespace: 'db', name: 'data-0', uid: 'claim-uid-1', ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...(volumeName !== undefined && { volumeName }),
    },
    status: { phase: 'Pending' },
  }
}
