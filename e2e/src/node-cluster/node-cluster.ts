import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { controlPlaneBinaries, ensureBinaries, type Binaries } from '../binaries.ts'
import { startControlPlane, type Caller, type ControlPlane } from '../control-plane.ts'
import { writeTokenKubeconfig } from '../kubeconfig.ts'
import type { ManagedProcess } from '../managed-process.ts'
import { createControlGroup, removeControlGroup } from './control-group.ts'
import { freeNetwork, type NodeNetwork } from './network.ts'
import {
  containerdConfig,
  containerdSocket,
  kubeletConfig,
  kubeProxyConfig,
  nodeName,
  podNetwork,
} from './node-config.ts'
import { NodeSandbox } from './sandbox.ts'

export const nodeBinaries = [
  ...controlPlaneBinaries,
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'pause',
  'fakecsi',
] as const

type NodeBinaries = Binaries<(typeof nodeBinaries)[number]>

export interface NodeClusterOptions {
  /** Gets configuration and logs; what the node stores lives in memory. */
  readonly dir: string
  /** Archives that `ctr images import` takes; the pause image among them. */
  readonly images: readonly string[]
  readonly apiserverArgs?: readonly string[]
  readonly report?: (line: string) => void
}

/** A control plane with one node: real pods, Services and volumes. */
export interface NodeCluster extends ControlPlane {
  readonly network: NodeNetwork
  readonly sandbox: NodeSandbox
  /** By `<namespace>_<pod>_<uid>/<container>/<n>.log`, as a kubelet lays them out. */
  readonly podLogs: string
}

// Enough for two programs of ours in three replicas each while a rollout doubles them.
const podMemoryBytes = 4 * 1024 ** 3

const roles = { kubelet: `system:node:${nodeName}`, kubeProxy: 'system:kube-proxy', scheduler: 'system:kube-scheduler' }

/** Ready in about twenty seconds on two cores. Needs root. Rejects, leaving nothing behind, where a part does not come up. */
export async function startNodeCluster(options: NodeClusterOptions): Promise<NodeCluster> {
  const binaries = await ensureBinaries(nodeBinaries, options.report)
  const dir = path.resolve(options.dir)
  const network = freeNetwork()
  await mkdir(dir, { recursive: true })
  await createControlGroup({ name: network.groupName, memoryBytes: podMemoryBytes })
  const sandbox = await NodeSandbox.start({ dir, network, pause: binaries.pause })
  let controlPlane: ControlPlane | undefined
  const stop = async () => {
    await controlPlane?.stop()
    await sandbox.stop()
    await removeControlGroup(network.groupName)
  }
  try {
    const node = new NodeParts({ binaries, dir, network, sandbox })
    const containerd = await node.startContainerd()
    controlPlane = await startControlPlane({
      dir,
      kcmQps: 500,
      kcmBurst: 1000,
      site: { ...siteOf(network), enter: sandbox.enter, callers: node.callers },
      ...(options.apiserverArgs !== undefined && { apiserverArgs: options.apiserverArgs }),
    })
    await node.importImages(options.images, containerd)
    await node.startKubernetes(controlPlane)
    await node.startStorage(controlPlane)
    return { ...controlPlane, network, sandbox, podLogs: node.podLogs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function siteOf(network: NodeNetwork) {
  return {
    address: network.nodeAddress,
    hostAddress: network.hostAddress,
    services: network.services,
    pods: network.pods,
    serviceAddress: network.kubernetesService,
  }
}

/** What runs beside the control plane, each as a process inside the sandbox. */
class NodeParts {
  readonly podLogs: string
  readonly callers: readonly Caller[]
  readonly #binaries: NodeBinaries
  readonly #dir: string
  readonly #network: NodeNetwork
  readonly #sandbox: NodeSandbox
  readonly #tokens: Readonly<Record<keyof typeof roles, string>>

  constructor(options: {
    readonly binaries: NodeBinaries
    readonly dir: string
    readonly network: NodeNetwork
    readonly sandbox: NodeSandbox
  }) {
    this.#binaries = options.binaries
    this.#dir = options.dir
    this.#network = options.network
    this.#sandbox = options.sandbox
    this.podLogs = path.join(options.dir, 'pods')
    const token = () => randomBytes(16).toString('hex')
    this.#tokens = { kubelet: token(), kubeProxy: token(), scheduler: token() }
    this.callers = [
      { token: this.#tokens.kubelet, user: roles.kubelet, groups: ['system:nodes'] },
      { token: this.#tokens.kubeProxy, user: roles.kubeProxy },
      { token: this.#tokens.scheduler, user: roles.scheduler },
    ]
  }

  async startContainerd(): Promise<ManagedProcess> {
    const cniFolder = path.join(this.#dir, 'cni')
    await mkdir(cniFolder, { recursive: true })
    await writeFile(path.join(cniFolder, '10-pods.conflist'), JSON.stringify(podNetwork(this.#network)))
    const config = await this.#write('containerd.toml', containerdConfig({ cniFolder }))
    return this.#start('containerd', 'containerd', ['--config', config])
  }

  async importImages(archives: readonly string[], containerd: ManagedProcess): Promise<void> {
    await this.#until('containerd answers', containerd, async () => this.#ctr('version'))
    for (const archive of archives) await this.#ctr('images', 'import', archive)
  }

  async startKubernetes(plane: ControlPlane): Promise<void> {
    const schedulerKubeconfig = await this.#kubeconfig(plane, 'scheduler')
    await this.#start('kube-scheduler', this.#binaries['kube-scheduler'], [
      `--kubeconfig=${schedulerKubeconfig}`,
      `--authentication-kubeconfig=${schedulerKubeconfig}`,
      `--authorization-kubeconfig=${schedulerKubeconfig}`,
      '--bind-address=127.0.0.1',
      '--leader-elect=false',
    ])
    const proxyConfig = kubeProxyConfig({
      kubeconfig: await this.#kubeconfig(plane, 'kubeProxy'),
      network: this.#network,
    })
    const proxyFile = await this.#write('kube-proxy.yaml', stringify(proxyConfig))
    await this.#start('kube-proxy', this.#binaries['kube-proxy'], [`--config=${proxyFile}`])
    await this.#startKubelet(plane)
  }

  /** The CSI driver: its node plugin and its provisioner, under the name of EBS. */
  async startStorage(plane: ControlPlane): Promise<void> {
    const fakecsi = await this.#start('fakecsi', this.#binaries.fakecsi, [`--kubeconfig=${plane.kubeconfigPath}`])
    await this.#until('the CSI driver is registered', fakecsi, async () => {
      const csiNode = await plane.kube.client.call<CsiNode>('GET', `/apis/storage.k8s.io/v1/csinodes/${nodeName}`)
      if ((csiNode.spec.drivers ?? []).length === 0) throw new Error('no driver yet')
    })
  }

  async #startKubelet(plane: ControlPlane): Promise<void> {
    // Pods that ask for names get a quick no from nobody; see the README on DNS.
    const resolvConf = await this.#write('resolv.conf', 'nameserver 127.0.0.1\noptions attempts:1 timeout:1\n')
    const { groupName, nodeAddress } = this.#network
    const config = kubeletConfig({ groupName, podLogs: this.podLogs, resolvConf })
    const kubelet = await this.#start('kubelet', this.#binaries.kubelet, [
      `--config=${await this.#write('kubelet.yaml', stringify(config))}`,
      `--kubeconfig=${await this.#kubeconfig(plane, 'kubelet')}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${nodeAddress}`,
      '--v=2',
    ])
    await this.#until('the node is ready', kubelet, async () => {
      const node = await plane.kube.client.call<KubeNode>('GET', `/api/v1/nodes/${nodeName}`)
      if (!node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) {
        throw new Error(JSON.stringify(node.status.conditions))
      }
    })
  }

  async #kubeconfig(plane: ControlPlane, role: keyof typeof roles): Promise<string> {
    const file = path.join(this.#dir, `${role}.kubeconfig`)
    await writeTokenKubeconfig(file, {
      url: plane.url,
      caPem: plane.caPem,
      user: roles[role],
      token: this.#tokens[role],
    })
    return file
  }

  async #write(name: string, content: string): Promise<string> {
    const file = path.join(this.#dir, name)
    await writeFile(file, content)
    return file
  }

  #start(name: string, command: string, args: readonly string[]): Promise<ManagedProcess> {
    return this.#sandbox.start({ name, command, args, logFile: path.join(this.#dir, `${name}.log`) })
  }

  #ctr(...args: readonly string[]): Promise<string> {
    return this.#sandbox.run('ctr', '--address', containerdSocket, '--namespace', 'k8s.io', ...args)
  }

  async #until(what: string, process: ManagedProcess, check: () => Promise<unknown>): Promise<void> {
    const deadlineMs = performance.now() + 90_000
    for (;;) {
      try {
        await check()
        return
      } catch (error) {
        if (!process.running || performance.now() > deadlineMs) {
          throw new Error(`Waited in vain until ${what}: ${process.describe()}`, { cause: error })
        }
        await sleep(100)
      }
    }
  }
}

interface KubeNode {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

interface CsiNode {
  readonly spec: { readonly drivers?: readonly { readonly name: string }[] }
}
