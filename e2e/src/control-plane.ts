import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { AuditLog, writeAuditPolicy } from './audit-log.ts'
import { controlPlaneBinaries, ensureBinaries } from './binaries.ts'
import type { Cluster } from './cluster.ts'
import { apiserverArgs, etcdArgs, kcmArgs, type Layout } from './control-plane-args.ts'
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
  /** Default: on loopback, with the few controllers that claims need. */
  readonly site?: ControlPlaneSite
  /** Told about a build of the binaries, which takes minutes the first time. */
  readonly report?: (line: string) => void
}

/** Where a control plane lives that has a node: in the node's namespaces, with every controller. */
export interface ControlPlaneSite {
  /** Of the node, as its pods and this machine reach it. */
  readonly address: string
  /** Of this machine, as the node and its pods reach it. */
  readonly hostAddress: string
  /** Both as CIDR. */
  readonly services: string
  readonly pods: string
  /** The API server's own Service. */
  readonly serviceAddress: string
  /** What takes a command into the node's namespaces: a program and its arguments. */
  readonly enter: readonly [string, ...string[]]
  readonly callers: readonly Caller[]
}

/** Somebody whom the API server knows by a static token. */
export interface Caller {
  readonly token: string
  readonly user: string
  readonly groups?: readonly string[]
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

// With watches open the API server takes its time; clients see the same either way.
const stopGraceMs = 1000

/** Ready in about five seconds on two cores. Rejects, leaving nothing behind, where a part does not come up. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const binaries = await ensureBinaries(controlPlaneBinaries, options.report)
  const dir = path.resolve(options.dir)
  const { site } = options
  const layout = await prepare(dir, site)
  const { caPem } = layout
  const url = `https://${site?.address ?? '127.0.0.1'}:${layout.ports.apiserver}`
  const started: ManagedProcess[] = []
  const start = async (process: Omit<ProcessOptions, 'logFile'>) => {
    const logFile = path.join(dir, `${process.name}.log`)
    const managed = await ManagedProcess.start({ ...process, ...entering(process, site), logFile })
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
      webhookHost: site?.hostAddress ?? '127.0.0.1',
      webhookBindAddress: site?.hostAddress ?? '127.0.0.1',
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

/** The command, or what runs it inside the site. */
function entering(
  { command, args = [] }: Pick<ProcessOptions, 'command' | 'args'>,
  site: ControlPlaneSite | undefined,
): Pick<ProcessOptions, 'command' | 'args'> {
  if (site === undefined) return { command, args }
  const [enter, ...enterArgs] = site.enter
  return { command: enter, args: [...enterArgs, command, ...args] }
}

async function prepare(dir: string, site: ControlPlaneSite | undefined): Promise<Layout> {
  await mkdir(dir, { recursive: true })
  const [etcd = 0, etcdPeer = 0, apiserver = 0, kcm = 0] = await freePorts(4)
  const authority = await CertificateAuthority.create('kubernetes')
  const siteNames = site === undefined ? [] : [site.address, site.serviceAddress]
  const serving = await authority.issue(['127.0.0.1', 'localhost', 'kubernetes.default.svc', ...siteNames])
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
  // The control plane's own callers are known by a static token; everybody else is a service account, as in a cluster.
  const callers: readonly Caller[] = [
    { token: layout.tokens.admin, user: 'admin', groups: ['system:masters'] },
    { token: layout.tokens.kcm, user: 'system:kube-controller-manager' },
    ...(site?.callers ?? []),
  ]
  const tokens = callers.map(({ token, user, groups = [] }) => `${token},${user},${user},"${groups.join(',')}"`)
  await writeFile(layout.tokenFile, tokens.join('\n'), { mode: 0o600 })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(layout.serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  await writeFile(layout.caFile, authority.certificate)
  await writeFile(layout.certificateFile, serving.certificate)
  await writeFile(layout.certificateKeyFile, serving.key, { mode: 0o600 })
  await writeAuditPolicy(layout.auditPolicy)
  return layout
}

function bearer({ tokens }: Layout): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${tokens.admin}` }
}
