import type { Cluster } from './cluster.ts'
import { KubeClient } from './kube-client.ts'
import { Kube } from './kube.ts'
import { readKubeconfig } from './kubeconfig.ts'

/**
 * A cluster that somebody else runs, such as kind, by its kubeconfig (current context, an administrator). Its API server
 * must reach the webhook on this machine: `webhookHost` is this machine's address as the cluster's nodes see it (for
 * kind the gateway of the docker network `kind`), and servers for it listen on all interfaces. The audit log is out of
 * reach there.
 */
export async function useExistingCluster(options: {
  readonly kubeconfigPath: string
  readonly webhookHost: string
}): Promise<Cluster> {
  const access = await readKubeconfig(options.kubeconfigPath)
  const client = new KubeClient(access)
  return {
    url: access.url,
    caPem: access.caPem,
    kubeconfigPath: options.kubeconfigPath,
    kube: new Kube(client),
    audit: undefined,
    webhookHost: options.webhookHost,
    webhookBindAddress: '0.0.0.0',
    stop: async () => client.close(),
  }
}
