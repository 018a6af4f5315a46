import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse, stringify } from 'yaml'
import type { Cluster } from '../cluster.ts'
import type { KubeObject, Stored } from '../kube-objects.ts'
import { writeTokenKubeconfig } from '../kubeconfig.ts'
import type { ManagedProcess } from '../managed-process.ts'
import { freePorts } from '../ports.ts'
import { startProgram } from '../processes.ts'
import type { ObjectRef } from '../resource.ts'

/** What `make bundle` builds, and the image would ship. */
const command = path.join(import.meta.dirname, '..', '..', '..', 'dist', 'k8s-cloud-tagger.js')

const secretPollMs = 250

interface Container {
  readonly args: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } }
}

interface Volume {
  readonly configMap?: { readonly name: string }
  readonly secret?: { readonly secretName: string }
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly serviceAccountName: string
    readonly containers: readonly Container[]
    readonly volumes?: readonly Volume[]
  }
}

/** One pod of the chart as a process: its arguments, environment, config, certificate and account; ports of its own. */
export class ProcessPod {
  webhookPort = 0
  readonly #cluster: Cluster
  readonly #dir: string
  readonly #pod: Stored<Pod>
  readonly #container: Container
  readonly #ending = new AbortController()
  #process: ManagedProcess | undefined
  #following: Promise<void> | undefined
  #isReady = false
  #secretVersion: string | undefined

  constructor(cluster: Cluster, { dir, pod }: { readonly dir: string; readonly pod: Stored<Pod> }) {
    const [container] = pod.spec.containers
    if (container === undefined) throw new Error(`${pod.metadata.name} has no container`)
    this.#cluster = cluster
    this.#dir = dir
    this.#pod = pod
    this.#container = container
  }

  /** As long as a Service would send it calls: not from the moment on when it is told to go. */
  get takesCalls(): boolean {
    return this.#isReady && this.#container.args[0] === 'webhook' && !this.#ending.signal.aborted
  }

  /** Resolves when it is ready. Waits for what it mounts, as a kubelet does. */
  async start(): Promise<void> {
    await mkdir(this.#dir, { recursive: true })
    const tls = path.join(this.#dir, 'tls')
    await this.#mountSecret(tls)
    const [healthPort = 0, webhookPort = 0] = await freePorts(2)
    this.webhookPort = webhookPort
    const { name, namespace = '' } = this.#pod.metadata
    const given = this.#container.env?.map((variable) => [variable.name, variable.value]) ?? []
    this.#process = await startProgram({
      name,
      entry: command,
      args: this.#container.args,
      env: {
        ...Object.fromEntries(given),
        POD_NAME: name,
        POD_NAMESPACE: namespace,
        CONFIG_PATH: await this.#writeConfig({ healthPort, webhookPort, tls }),
        KUBECONFIG: await this.#writeKubeconfig(),
      },
      logFile: path.join(this.#dir, 'program.log'),
      readyUrl: `http://127.0.0.1:${healthPort}/readyz`,
    })
    this.#isReady = true
  }

  /** As a kubelet ends a pod: the wait before, the signal, the grace. */
  async stop({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<void> {
    this.#ending.abort()
    await this.#following
    const seconds = this.#container.lifecycle?.preStop?.sleep?.seconds ?? 0
    if (!isUrgent) await sleep(seconds * 1000)
    await this.#process?.stop()
  }

  async #writeConfig(options: {
    readonly healthPort: number
    readonly webhookPort: number
    readonly tls: string
  }): Promise<string> {
    const name = this.#pod.spec.volumes?.find(({ configMap }) => configMap !== undefined)?.configMap?.name ?? ''
    const path_ = `/api/v1/namespaces/${this.#pod.metadata.namespace}/configmaps/${name}`
    const { data } = await this.#cluster.kube.client.call<{ readonly data: Readonly<Record<string, string>> }>(
      'GET',
      path_,
    )
    const config = parse(data['config.yaml'] ?? '') as { readonly webhook?: object }
    const loopback = '127.0.0.1'
    const here = {
      ...config,
      http: { address: loopback, port: options.healthPort },
      webhook: {
        ...config.webhook,
        address: loopback,
        port: options.webhookPort,
        certificateDirectory: options.tls,
      },
    }
    const file = path.join(this.#dir, 'config.yaml')
    await writeFile(file, stringify(here))
    return file
  }

  async #writeKubeconfig(): Promise<string> {
    const { namespace } = this.#pod.metadata
    const { serviceAccountName } = this.#pod.spec
    const token = await this.#cluster.kube.serviceAccountToken({ namespace, name: serviceAccountName })
    const file = path.join(this.#dir, 'kubeconfig')
    const { caPem, url } = this.#cluster
    await writeTokenKubeconfig(file, { url, caPem, user: serviceAccountName, token })
    return file
  }

  /** Resolves when it is there first; goes on following it in the background. */
  async #mountSecret(folder: string): Promise<void> {
    const name = this.#pod.spec.volumes?.find(({ secret }) => secret !== undefined)?.secret?.secretName
    if (name === undefined) return
    await mkdir(folder, { recursive: true })
    const ref = { namespace: this.#pod.metadata.namespace, name }
    while (!(await this.#projectSecret(ref, folder)) && !this.#ending.signal.aborted) await sleep(secretPollMs)
    this.#following = this.#followSecret(ref, folder)
  }

  async #followSecret(ref: ObjectRef, folder: string): Promise<void> {
    while (!this.#ending.signal.aborted) {
      await sleep(secretPollMs)
      // One that cannot be read stays as it was, as with a kubelet.
      await this.#projectSecret(ref, folder).catch(() => {})
    }
  }

  /** False where there is none. */
  async #projectSecret(ref: ObjectRef, folder: string): Promise<boolean> {
    const secret = (await this.#cluster.kube.resourceOf('Secret').find(ref)) as Secret | undefined
    if (secret === undefined) return false
    if (secret.metadata.resourceVersion !== this.#secretVersion) await project(folder, secret)
    this.#secretVersion = secret.metadata.resourceVersion
    return true
  }
}

type Secret = Stored<KubeObject> & { readonly data: Readonly<Record<string, string>> }

/** All files of a secret change at once: they are links through `..data`, which is replaced in one step. */
async function project(folder: string, { data, metadata }: Secret): Promise<void> {
  const generation = `..${metadata.resourceVersion}`
  await mkdir(path.join(folder, generation), { recursive: true })
  for (const [name, content] of Object.entries(data)) {
    await writeFile(path.join(folder, generation, name), Buffer.from(content, 'base64'))
    await symlink(path.join('..data', name), path.join(folder, name)).catch(() => {})
  }
  await symlink(generation, path.join(folder, '..data_tmp'))
  await rename(path.join(folder, '..data_tmp'), path.join(folder, '..data'))
}
