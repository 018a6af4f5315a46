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

const usual = {
  uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
  name: 'data-0',
  operation: 'UPDATE',
  resource: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
  subResource: undefined,
  dryRun: false,
  object: {},
  oldObject: null,
}

/** An AdmissionReview as the API server sends it: an update of claim `db/data-0` where nothing else is said. */
export function admissionReview(options: ReviewOptions = {}) {
  const { uid, name, operation, resource, subResource, dryRun, object, oldObject } = { ...usual, ...options }
  const kind = { group: resource.group, version: resource.version, kind: 'PersistentVolumeClaim' }
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind,
      resource,
      ...(subResource !== undefined && { subResource }),
      requestKind: kind,
      requestResource: resource,
      ...(name !== '' && { name }),
      namespace: 'db',
      operation,
      userInfo: { username: 'system:serviceaccount:kube-system:persistent-volume-binder' },
      object: object && claimObject(object),
      oldObject: oldObject && claimObject(oldObject),
      dryRun,
      options: { kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
    },
  }
}

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
