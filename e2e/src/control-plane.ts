import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { AuditLog, writeAuditPolicy } from './audit-log.ts'
import { ensureBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { waitForHttp } from './http.ts'
import { KubeClient } from './kube-client.ts'
import { Kube } from './kube.ts'
import { writeTokenKubeconfig } from './kubeconfig.ts'
import { ManagedProcess, type ProcessOptions } from './managed-process.ts'
import { freePorts } from './ports.ts'

export interface ControlPlaneOptions {
  /** Gets everything: data, logs, kubeconfigs. Created where it is missing. */
  readonly dir: string
  readonly apiserverArgs?: readonly string[]
  readonly kcmArgs?: readonly string[]
  /**
   * The controller manager's own client limits, by Kubernetes' defaults 20 calls a second and 30 at once: enough to bind
   * four claims a second. With 1,000 it binds about fifty, one after another; for more see `bindClaim`.
   */
  readonly kcmQps?: number
  readonly kcmBurst?: number
  /** False leaves out the controller that binds claims, for scenarios that bind by `bindClaim`. */
  readonly volumeController?: boolean
  /** Told about a build of the binaries, which takes minutes the first time. */
  readonly report?: (line: string) => void
}

/** etcd, kube-apiserver and kube-controller-manager as plain processes on loopback. */
export interface ControlPlane extends Cluster {
  readonly processes: {
    readonly etcd: ManagedProcess
    readonly apiserver: ManagedProcess
    readonly controllerManager: ManagedProcess
  }
  readonly kubectl: string
  /** The API server goes away and does not come back by itself. */
  stopApiServer(): Promise<void>
  /** The API server comes back at the same address with the same data. */
  startApiServer(): Promise<void>
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

// With watches open the API server takes its time; clients see the same either way.
const stopGraceMs = 1000

/** Ready in about five seconds on two cores. Rejects, leaving nothing behind, where a part does not come up. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const binaries = await ensureBinaries(options.report)
  const dir = path.resolve(options.dir)
  const layout = await prepare(dir)
  const { caPem } = layout
  const url = `https://127.0.0.1:${layout.ports.apiserver}`
  const started: ManagedProcess[] = []
  const start = async (process: Omit<ProcessOptions, 'logFile'>) => {
    const managed = await ManagedProcess.start({ ...process, logFile: path.join(dir, `${process.name}.log`) })
    started.push(managed)
    return managed
  }
  const startApiServer = async () => {
    const apiserver = await start({
      name: 'kube-apiserver',
      command: binaries['kube-apiserver'],
      args: apiserverArgs(layout, options),
    })
    await waitForHttp(`${url}/readyz`, { process: apiserver, caPem, withinMs: 60_000, headers: bearer(layout) })
    return apiserver
  }
  // Its data is thrown away with it: nothing to wait for.
  const stopAll = async () => {
    await Promise.all(started.map((process) => process.kill()))
  }

  try {
    const etcd = await start({ name: 'etcd', command: binaries.etcd, args: etcdArgs(layout) })
    let apiserver = await startApiServer()
    const kubeconfigPath = path.join(dir, 'admin.kubeconfig')
    await writeTokenKubeconfig(kubeconfigPath, { url, caPem, user: 'admin', token: layout.tokens.admin })
    await writeTokenKubeconfig(layout.kcmKubeconfig, { url, caPem, user: 'kcm', token: layout.tokens.kcm })
    const controllerManager = await start({
      name: 'kube-controller-manager',
      command: binaries['kube-controller-manager'],
      args: kcmArgs(layout, options),
    })
    const client = new KubeClient({ url, caPem, token: layout.tokens.admin })
    const kube = new Kube(client)
    await kube.serviceAccounts.waitFor({ namespace: 'default', name: 'default' }, 'be there', () => true)

    return {
      url,
      caPem,
      kubeconfigPath,
      kube,
      kubectl: binaries.kubectl,
      audit: new AuditLog(layout.auditLog),
      webhookHost: '127.0.0.1',
      webhookBindAddress: '127.0.0.1',
      get processes() {
        return { etcd, apiserver, controllerManager }
      },
      async stopApiServer() {
        await apiserver.stop({ graceMs: stopGraceMs })
      },
      async startApiServer() {
        apiserver = await startApiServer()
      },
      async stop() {
        client.close()
        await stopAll()
      },
    }
  } catch (error) {
    await stopAll()
    throw error
  }
}

interface Layout {
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

async function prepare(dir: string): Promise<Layout> {
  await mkdir(dir, { recursive: true })
  const [etcd = 0, etcdPeer = 0, apiserver = 0, kcm = 0] = await freePorts(4)
  const authority = await CertificateAuthority.create('kubernetes')
  const serving = await authority.issue(['127.0.0.1', 'localhost', 'kubernetes.default.svc'])
  const layout: Layout = {
    dir,
    ports: { etcd, etcdPeer, apiserver, kcm },
    tokens: { admin: randomBytes(16).toString('hex'), kcm: randomBytes(16).toString('hex') },
    tokenFile: path.join(dir, 'tokens.csv'),
    kcmKubeconfig: path.join(dir, 'kube-controller-manager.kubeconfig'),
    serviceAccountKey: path.join(dir, 'service-accounts.pem'),
    caPem: authority.certificate,
    caFile: path.join(dir, 'ca.crt'),
    certificateFile: path.join(dir, 'kube-apiserver.crt'),
    certificateKeyFile: path.join(dir, 'kube-apiserver.key'),
    auditPolicy: path.join(dir, 'audit-policy.yaml'),
    auditLog: path.join(dir, 'audit.log'),
  }
  // Two callers are known by a static token; everybody else is a service account, as in a cluster.
  const tokens = [
    `${layout.tokens.admin},admin,admin,system:masters`,
    `${layout.tokens.kcm},system:kube-controller-manager,kcm,`,
  ]
  await writeFile(layout.tokenFile, tokens.join('\n'), { mode: 0o600 })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(layout.serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  await writeFile(layout.caFile, authority.certificate)
  await writeFile(layout.certificateFile, serving.certificate)
  await writeFile(layout.certificateKeyFile, serving.key, { mode: 0o600 })
  await writeAuditPolicy(layout.auditPolicy)
  return layout
}

function etcdArgs({ dir, ports }: Layout): readonly string[] {
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
function apiserverArgs(layout: Layout, options: ControlPlaneOptions): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${layout.ports.etcd}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--secure-port=${layout.ports.apiserver}`,
    `--tls-cert-file=${layout.certificateFile}`,
    `--tls-private-key-file=${layout.certificateKeyFile}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
    `--token-auth-file=${layout.tokenFile}`,
    '--enable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy',
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

function kcmArgs(layout: Layout, options: ControlPlaneOptions): readonly string[] {
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
    `--controllers=${[...controllers, ...(options.volumeController === false ? [] : [volumeController])].join(',')}`,
    ...(options.kcmQps === undefined ? [] : [`--kube-api-qps=${options.kcmQps}`]),
    ...(options.kcmBurst === undefined ? [] : [`--kube-api-burst=${options.kcmBurst}`]),
    ...(options.kcmArgs ?? []),
  ]
}

function bearer({ tokens }: Layout): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${tokens.admin}` }
}
