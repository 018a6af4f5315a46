/** What the API server sends for a claim that is created, as long as they commonly are: 4.7 KB. */
export const reviewBytes = 4700

export function reviewBody(): Buffer {
  const managedFields = (bytes: number) => [{ manager: 'kubectl', operation: 'Update', fieldsV1: 'x'.repeat(bytes) }]
  const bare = Buffer.byteLength(JSON.stringify(review(managedFields(0))))
  return Buffer.from(JSON.stringify(review(managedFields(reviewBytes - bare))))
}

function review(managedFields: object): object {
  const kind = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' }
  const resource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
  const labels = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`example.com/label-${i}`, `value-${i}`]))
  const annotations = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`example.com/note-${i}`, 'n'.repeat(60)]))
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: 'data-0',
      namespace: 'db',
      operation: 'CREATE',
      userInfo: {
        username: 'system:serviceaccount:kube-system:statefulset-controller',
        uid: '11111111-2222-3333-4444-555555555555',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
      },
      object: {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: {
          name: 'data-0',
          namespace: 'db',
          uid: '99999999-8888-7777-6666-555555555555',
          creationTimestamp: '2026-01-01T00:00:00Z',
          labels,
          annotations,
          managedFields,
        },
        spec: {
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '10Gi' } },
          storageClassName: 'gp3',
          volumeMode: 'Filesystem',
        },
        status: { phase: 'Pending' },
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'kubectl' },
    },
  }
}
