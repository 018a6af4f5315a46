import type { AccessRule } from '../kubernetes/users.ts'
import type { ProgramName } from './program-process.ts'

export const productNamespace = 'k8s-cloud-tagger'

/** The rights that each program is installed with, and no others. */
export const rules: Readonly<Record<ProgramName, readonly AccessRule[]>> = {
  webhook: [
    { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get'] },
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'patch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['k8s-cloud-tagger-budget'],
      verbs: ['get', 'update'],
      namespace: productNamespace,
    },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'], namespace: productNamespace },
  ],
  reconciler: [
    { apiGroups: [''], resources: ['persistentvolumeclaims', 'namespaces'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      verbs: ['get', 'create', 'update', 'patch'],
      namespace: productNamespace,
    },
  ],
  report: [
    { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes', 'namespaces'], verbs: ['list'] },
  ],
}

export function serviceAccount(name: string): string {
  return `system:serviceaccount:${productNamespace}:${name}`
}
