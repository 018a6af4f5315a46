import type { Cluster } from './cluster.ts'
import { startControlPlane, type ControlPlaneOptions } from './control-plane.ts'
import { useExistingCluster } from './existing-cluster.ts'
import type { Need } from './prerequisites.ts'

/**
 * The cluster that the scenarios run on: a control plane of their own, or the one that `E2E_KUBECONFIG` names. Its API
 * server must then reach the webhook at `E2E_WEBHOOK_HOST`; see `useExistingCluster`.
 */
export async function startCluster(options: ControlPlaneOptions): Promise<Cluster> {
  const kubeconfigPath = existingKubeconfig()
  if (kubeconfigPath === undefined) return startControlPlane(options)
  // That it is there, the runner made sure of.
  return useExistingCluster({ kubeconfigPath, webhookHost: process.env['E2E_WEBHOOK_HOST'] ?? '' })
}

/** What the cluster needs on this machine. */
export function clusterNeeds(): readonly Need[] {
  return existingKubeconfig() === undefined ? ['control-plane'] : ['existing-cluster']
}

/** What `E2E_KUBECONFIG` says. */
export function existingKubeconfig(): string | undefined {
  return process.env['E2E_KUBECONFIG'] || undefined
}
