import type { KubeObject } from '../kube-objects.ts'
import { pauseImage } from '../node-cluster/node-config.ts'

/** Two pods, each with a volume of its own: `data-db-0` and `data-db-1`. Its pods do nothing. */
export function databaseWithVolumes(
  namespace: string,
  options: { readonly storageClassName: string; readonly claimLabels: Readonly<Record<string, string>> },
): KubeObject & { readonly spec: object } {
  const container = { name: 'db', image: pauseImage, volumeMounts: [{ name: 'data', mountPath: '/data' }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace },
    spec: {
      serviceName: 'db',
      replicas: 2,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { terminationGracePeriodSeconds: 1, containers: [container] },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data', labels: options.claimLabels },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: options.storageClassName,
            resources: { requests: { storage: '1Gi' } },
          },
        },
      ],
    },
  }
}
