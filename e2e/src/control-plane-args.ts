import path from 'node:path'
import type { ControlPlaneOptions, ControlPlaneSite } from './control-plane.ts'

/** Where the parts of a control plane find each other and their files. */
export interface Layout {
  readonly dir: string
  readonly ports: { readonly etcd: number; readonly etcdPeer: number; readonly apiserver: number; readonly kcm: number }
  readonly tokens: { readonly admin: string; readonly kcm: string }
  readonly tokenFile: string
  readonly kcmKubeconfig: string
  readonly serviceAccountKey: string
  readonly caPem: string
  readonly caFile: string
  readonly certificateFile: string
  readonly certificateKeyFile: string
  readonly auditPolicy: string
  readonly auditLog: string
}

const volumeController = 'persistentvolume-binder-controller'

// What claims, volumes, service accounts and namespaces need besides; the others would only cost start-up time.
const controllers = [
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'namespace-controller',
  'garbage-collector-controller',
]

export function etcdArgs({ dir, ports }: Layout): readonly string[] {
  const client = `http://127.0.0.1:${ports.etcd}`
  const peer = `http://127.0.0.1:${ports.etcdPeer}`
  return [
    '--name=default',
    `--data-dir=${path.join(dir, 'etcd')}`,
    // The data need not survive the machine; syncing would measure its disk.
    '--unsafe-no-fsync',
    '--log-level=warn',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ]
}

/** Limits (requests in flight, priority and fairness) stay at their defaults: scenarios meet the 429s of a real cluster. */
export function apiserverArgs(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${layout.ports.etcd}`,
    ...addressArgs(options.site),
    `--secure-port=${layout.ports.apiserver}`,
    `--tls-cert-file=${layout.certificateFile}`,
    `--tls-private-key-file=${layout.certificateKeyFile}`,
    `--token-auth-file=${layout.tokenFile}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${layout.serviceAccountKey}`,
    `--service-account-signing-key-file=${layout.serviceAccountKey}`,
    `--audit-policy-file=${layout.auditPolicy}`,
    `--audit-log-path=${layout.auditLog}`,
    // In megabytes: rotation would move what AuditLog reads.
    '--audit-log-maxsize=4096',
    ...(options.apiserverArgs ?? []),
  ]
}

function addressArgs(site: ControlPlaneSite | undefined): readonly string[] {
  const plugins = 'MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy'
  if (site === undefined) {
    return [
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--authorization-mode=RBAC',
      `--enable-admission-plugins=${plugins}`,
    ]
  }
  return [
    '--bind-address=0.0.0.0',
    `--advertise-address=${site.address}`,
    `--service-cluster-ip-range=${site.services}`,
    '--authorization-mode=Node,RBAC',
    // Nobody resolves the node's name.
    '--kubelet-preferred-address-types=InternalIP',
    `--enable-admission-plugins=NodeRestriction,${plugins}`,
  ]
}

export function kcmArgs(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  return [
    `--kubeconfig=${layout.kcmKubeconfig}`,
    `--authentication-kubeconfig=${layout.kcmKubeconfig}`,
    `--authorization-kubeconfig=${layout.kcmKubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${layout.ports.kcm}`,
    '--leader-elect=false',
    // Each controller as its own account: admission reviews then name the binder as in a real cluster.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${layout.serviceAccountKey}`,
    `--root-ca-file=${layout.caFile}`,
    ...controllerArgs(options),
    ...(options.kcmQps === undefined ? [] : [`--kube-api-qps=${options.kcmQps}`]),
    ...(options.kcmBurst === undefined ? [] : [`--kube-api-burst=${options.kcmBurst}`]),
    ...(options.kcmArgs ?? []),
  ]
}

function controllerArgs({ site, volumeController: binds = true }: ControlPlaneOptions): readonly string[] {
  if (site === undefined) return [`--controllers=${[...controllers, ...(binds ? [volumeController] : [])].join(',')}`]
  return [`--cluster-cidr=${site.pods}`, `--service-cluster-ip-range=${site.services}`, '--allocate-node-cidrs=true']
}
