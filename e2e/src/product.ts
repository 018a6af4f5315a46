import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { fakeCredentials } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { stringify } from 'yaml'
import type { Cluster } from './cluster.ts'
import type { ClusterSetup } from './cluster-setup.ts'
import type { ManagedProcess } from './managed-process.ts'
import { freePorts } from './ports.ts'
import { startProgram } from './processes.ts'
import { TcpBalancer } from './tcp-balancer.ts'
import { untilReviewed } from './webhook-ready.ts'

export const region = 'eu-west-1'

/** What `make bundle` builds: the programs run as the image ships them. */
const bundledCommand = path.join(import.meta.dirname, '..', '..', 'dist', 'k8s-cloud-tagger.js')

/** Where the product finds its cloud, and as whom. */
export interface ProductCloud {
  readonly provider: 'aws' | 'gcp' | 'azure'
  /** The config's group of that name. */
  readonly config: object
  readonly env: Readonly<Record<string, string | undefined>>
}

/** EC2 at this address, with the keys that the fake knows. */
export function ec2At(endpoint: string): ProductCloud {
  const { accessKeyId, secretAccessKey } = fakeCredentials
  return {
    provider: 'aws',
    config: { region, endpoint },
    env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
  }
}

export interface ProductOptions {
  readonly cluster: Cluster
  readonly setup: ClusterSetup
  readonly dir: string
  /** EC2's address; or another cloud. */
  readonly ec2Url?: string
  readonly cloud?: ProductCloud
  /** Default: what `make bundle` builds. */
  readonly command?: string
  /** Default 2; 0 means that the webhook is switched off. */
  readonly webhooks?: number
  /** Default true. */
  readonly reconciler?: boolean
  /** Merged over the config that follows from the rest, group by group. */
  readonly config?: Readonly<Record<string, object>>
  /** Told of each process as soon as it runs, before it is ready. */
  readonly onProcess?: (process: ManagedProcess) => void
}

export interface ProgramInPlace {
  readonly name: string
  readonly healthUrl: string
  /** Where a webhook answers the API server (TLS). */
  readonly webhookPort: number | undefined
  process: ManagedProcess
  /** Starts it anew under the same name, as a container that restarts in its pod. */
  restart(): Promise<void>
}

/** Both programs on this machine, as service accounts of the cluster, with the webhook registered behind one address. */
export class Product {
  readonly webhooks: ProgramInPlace[] = []
  reconciler: ProgramInPlace | undefined
  readonly #options: ProductOptions
  #balancer: TcpBalancer | undefined

  private constructor(options: ProductOptions) {
    this.#options = options
  }

  static async start(options: ProductOptions): Promise<Product> {
    const product = new Product(options)
    try {
      await product.#start()
      return product
    } catch (error) {
      await product.stop()
      throw error
    }
  }

  get programs(): readonly ProgramInPlace[] {
    return this.reconciler === undefined ? this.webhooks : [...this.webhooks, this.reconciler]
  }

  async stop(): Promise<void> {
    const running = this.programs.filter(({ process }) => process.running)
    await Promise.all(running.map(({ process }) => process.stop()))
    if (this.#balancer === undefined) return
    await this.#options.setup.unregisterWebhook()
    await this.#balancer.stop()
    this.#balancer = undefined
  }

  /** The value of one of a program's metrics, summed over all label values that have these labels. */
  async metric(program: ProgramInPlace, name: string, labels = ''): Promise<number> {
    const text = await (await fetch(`${program.healthUrl}/metrics`)).text()
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`k8s_cloud_tagger_${name}`) && line.includes(labels))
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }

  async #start(): Promise<void> {
    const { webhooks = 2, reconciler = true } = this.#options
    const tls = path.join(this.#options.dir, 'tls')
    const authority = await CertificateAuthority.create('e2e')
    if (webhooks > 0) await this.#writeCertificate(authority, tls)
    const ports: number[] = []
    for (let i = 0; i < webhooks; i++) {
      const [port = 0] = await freePorts(1)
      ports.push(port)
      this.webhooks.push(await this.#startProgram('webhook', `webhook-${i}`, { port, certificateDirectory: tls }))
    }
    if (reconciler) this.reconciler = await this.#startProgram('reconciler', 'reconciler-0', {})
    if (webhooks > 0) await this.#register(ports, authority.certificate)
  }

  async #writeCertificate(authority: CertificateAuthority, folder: string): Promise<void> {
    const { certificate, key } = await authority.issue([this.#options.cluster.webhookHost])
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'tls.crt'), certificate)
    await writeFile(path.join(folder, 'tls.key'), key)
  }

  async #register(ports: readonly number[], caPem: string): Promise<void> {
    const { cluster, setup } = this.#options
    const backends = ports.map((port) => ({ host: '127.0.0.1', port }))
    this.#balancer = await TcpBalancer.start(backends, { host: cluster.webhookBindAddress })
    await setup.registerWebhook({ url: `https://${cluster.webhookHost}:${this.#balancer.port}/validate`, caPem })
    const reviews = async () => {
      const counts = await Promise.all(this.webhooks.map((webhook) => this.metric(webhook, 'reviews_total')))
      return counts.some((count) => count > 0)
    }
    await untilReviewed(cluster.kube, reviews)
  }

  async #startProgram(
    kind: 'webhook' | 'reconciler',
    name: string,
    group: { readonly port?: number; readonly certificateDirectory?: string },
  ): Promise<ProgramInPlace> {
    const { dir, setup, ec2Url = '', webhooks = 2, reconciler = true, config = {}, onProcess } = this.#options
    const { command = bundledCommand, cloud = ec2At(ec2Url) } = this.#options
    const [healthPort = 0] = await freePorts(1)
    const configPath = path.join(dir, `${name}.yaml`)
    const merged = {
      ...config,
      cloudProvider: cloud.provider,
      clusterName: 'e2e',
      http: { address: '127.0.0.1', port: healthPort },
      [cloud.provider]: { ...cloud.config, ...config[cloud.provider] },
      budget: { profile: 'exclusive', ...(webhooks > 0 && { webhookReplicas: webhooks }), ...config['budget'] },
      requeue: { ...config['requeue'] },
      webhook: { enabled: webhooks > 0, address: '127.0.0.1', ...config['webhook'], ...(kind === 'webhook' && group) },
      reconciler: { enabled: reconciler, ...config['reconciler'] },
    }
    await writeFile(configPath, stringify(merged))
    const healthUrl = `http://127.0.0.1:${healthPort}`
    let starts = 0
    const launch = () =>
      startProgram({
        name,
        entry: command,
        args: [kind],
        env: {
          CONFIG_PATH: configPath,
          KUBECONFIG: setup[kind].kubeconfigPath,
          POD_NAME: name,
          POD_NAMESPACE: 'k8s-cloud-tagger',
          ...cloud.env,
        },
        logFile: path.join(dir, `${name}-${++starts}.log`),
        readyUrl: `${healthUrl}/readyz`,
        ...(onProcess !== undefined && { onStarted: onProcess }),
      })
    const program: ProgramInPlace = {
      name,
      healthUrl,
      webhookPort: group.port,
      process: await launch(),
      restart: async () => {
        program.process = await launch()
      },
    }
    return program
  }
}
