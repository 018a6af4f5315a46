import type { AuditLog } from './audit-log.ts'
import type { Kube } from './kube.ts'

/** A Kubernetes to try things on: our own control plane, or one that is there already. */
export interface Cluster {
  readonly url: string
  readonly caPem: string
  /** For an administrator. */
  readonly kubeconfigPath: string
  /** As an administrator, whom priority and fairness never slows down. */
  readonly kube: Kube
  /** Undefined where the API server's audit log is out of reach. */
  readonly audit: AuditLog | undefined
  /** The host under which the API server reaches servers on this machine, for the webhook's URL and certificate. */
  readonly webhookHost: string
  /** What a server must listen on so that the API server reaches it. */
  readonly webhookBindAddress: string
  /** Ends what was started; a cluster that was there already is left running. */
  stop(): Promise<void>
}
