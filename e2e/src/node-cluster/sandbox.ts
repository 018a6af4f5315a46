import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ManagedProcess, type ProcessOptions } from '../managed-process.ts'
import type { NodeNetwork } from './network.ts'

const run = promisify(execFile)

export interface SandboxOptions {
  readonly dir: string
  readonly network: NodeNetwork
  /** A program that does nothing until it is killed, and reaps what is orphaned. */
  readonly pause: string
}

/**
 * Mount, network, process and host name spaces of the cluster's own. One process holds them: when it is killed, the
 * kernel ends everything inside and takes mounts, interfaces and routes away.
 */
export class NodeSandbox {
  /** What takes a command inside. */
  readonly enter: readonly [string, ...string[]]
  readonly #holder: ManagedProcess
  readonly #pid: number

  private constructor(holder: ManagedProcess, pid: number) {
    this.#holder = holder
    this.#pid = pid
    this.enter = ['nsenter', '--target', String(pid), '--mount', '--net', '--pid', '--uts', '--']
  }

  static async start({ dir, network, pause }: SandboxOptions): Promise<NodeSandbox> {
    const holder = await ManagedProcess.start({
      name: 'node namespaces',
      command: 'unshare',
      // prettier-ignore
      args: ['--mount', '--net', '--pid', '--uts', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private', pause],
      logFile: path.join(dir, 'namespaces.log'),
    })
    try {
      const sandbox = new NodeSandbox(holder, await childOf(holder))
      await sandbox.#prepare(dir, network)
      return sandbox
    } catch (error) {
      await holder.kill()
      throw error
    }
  }

  /** Resolves to what it wrote; rejects where it fails. */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    const [enter, ...enterArgs] = this.enter
    const { stdout } = await run(enter, [...enterArgs, command, ...args], { maxBuffer: 64 * 1024 * 1024 })
    return stdout
  }

  async start(options: ProcessOptions): Promise<ManagedProcess> {
    const [enter, ...enterArgs] = this.enter
    const args = [...enterArgs, options.command, ...(options.args ?? [])]
    return ManagedProcess.start({ ...options, command: enter, args })
  }

  /** Resolves when nothing is left inside: the first process of a process name space stays until all others have gone. */
  async stop(): Promise<void> {
    if (this.#holder.running) process.kill(this.#pid, 'SIGKILL')
    await Promise.race([this.#holder.exited, sleep(5000, undefined, { ref: false })])
    await this.#holder.kill()
  }

  async #prepare(dir: string, network: NodeNetwork): Promise<void> {
    const pid = String(this.#pid)
    await run('ip', ['link', 'add', network.interfaceName, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid])
    await run('ip', ['address', 'add', `${network.hostAddress}/24`, 'dev', network.interfaceName])
    await run('ip', ['link', 'set', network.interfaceName, 'up'])
    const script = path.join(dir, 'prepare-node.sh')
    await writeFile(script, await insideScript(dir, network))
    await this.run('sh', script)
    for (const range of [network.pods, network.services]) {
      await run('ip', ['route', 'replace', range, 'via', network.nodeAddress])
    }
  }
}

/** The first process inside: `unshare` is outside and only waits for it. */
async function childOf(holder: ManagedProcess): Promise<number> {
  for (let tries = 0; tries < 200 && holder.running; tries++) {
    const children = `/proc/${holder.pid}/task/${holder.pid}/children`
    const [child] = existsSync(children) ? readFileSync(children, 'utf8').trim().split(' ') : []
    if (child !== undefined && child !== '') return Number(child)
    await sleep(10)
  }
  throw new Error(holder.describe())
}

// A kubelet wants these machine-wide values. They are shown to it, not set.
const shownSettings = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
}

async function insideScript(dir: string, network: NodeNetwork): Promise<string> {
  const shown: string[] = []
  for (const [index, [setting, value]] of Object.entries(shownSettings).entries()) {
    const file = path.join(dir, `setting-${index}`)
    await writeFile(file, `${value}\n`)
    shown.push(`mount --bind '${file}' /proc/sys/${setting}`)
  }
  return [
    'set -e',
    'hostname node1',
    'mount --make-rshared /',
    ...shown,
    // Where containerd, kubelet and the network plugins keep their things: gone with the namespaces, and bounded.
    'mount -t tmpfs -o size=64m,mode=755 tmpfs /run',
    'mount -t tmpfs -o size=3g,mode=755 tmpfs /var/lib',
    'mount -t tmpfs -o size=64m,mode=755 tmpfs /var/log',
    'mkdir -p /run/netns /run/lock /var/lib/kubelet',
    'mount --bind /run/netns /run/netns && mount --make-rshared /run/netns',
    'ip link set lo up',
    `ip address add ${network.nodeAddress}/24 dev eth0`,
    'ip link set eth0 up',
    // The kernel must take a Service's address for somebody else's before kube-proxy can bend it.
    `ip route add ${network.services} dev eth0`,
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
    // Only there where the module is loaded; then pods reach their own Service too.
    'if [ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]; then echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables; fi',
    '',
  ].join('\n')
}
