import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CertificateAuthority } from '@k8s-cloud-tagger/shared/testing/certificates.ts'
import { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { EmbeddedKubernetes } from '@k8s-cloud-tagger/shared/testing/kubernetes/embedded-kubernetes.ts'
import { type KubeObject, stringOf } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import { freePorts } from '../../src/ports.ts'
import { TcpBalancer } from '../../src/tcp-balancer.ts'
import { makeDisk } from './demo-disks.ts'
import { type Installation, readInstallation } from './installation.ts'
import { standInFor } from './match-conditions.ts'
import { Program } from './program.ts'

/** How long EC2 takes for an answer, about as the real one does. */
export const cloudLatencyMs = 100
export const headStart = '2s'
export const sweepInterval = '10s'

const region = 'eu-west-1'
const serviceName = 'k8s-cloud-tagger-webhook'
/** From a claim's creation to its binding: long enough to be seen. */
const provisioningMs = 300

/**
 * Everything that the demo needs, on this machine alone: a Kubernetes API and an EC2 in this process, two webhook
 * replicas behind one Service address and a reconciler as children of it.
 */
export class World {
  readonly cloud: Ec2Fake
  readonly kubernetes: EmbeddedKubernetes
  readonly webhooks: readonly Program[]
  readonly reconciler: Program
  /** Names of the two service accounts. */
  readonly users: { readonly webhook: string; readonly reconciler: string }
  readonly #balancer: TcpBalancer

  private constructor(parts: {
    readonly cloud: Ec2Fake
    readonly kubernetes: EmbeddedKubernetes
    readonly webhooks: readonly Program[]
    readonly reconciler: Program
    readonly users: World['users']
    readonly balancer: TcpBalancer
  }) {
    this.cloud = parts.cloud
    this.kubernetes = parts.kubernetes
    this.webhooks = parts.webhooks
    this.reconciler = parts.reconciler
    this.users = parts.users
    this.#balancer = parts.balancer
  }

  /** Builds all of it below `folder`. The programs are not started yet. */
  static async build(folder: string): Promise<World> {
    const installation = await readInstallation()
    const cloud = await Ec2Fake.start({ latencyMs: cloudLatencyMs, region })
    const kubernetes = await startKubernetes(installation, cloud)
    await kubernetes.createNamespace(installation.namespace)

    const certificateDirectory = path.join(folder, 'tls')
    const caPem = await writeCertificate(certificateDirectory, `${serviceName}.${installation.namespace}.svc`)
    const ports = await freePorts(5)
    const [tlsPorts, httpPorts] = [ports.slice(0, 2), ports.slice(2)]
    const balancer = await TcpBalancer.start(tlsPorts.map((port) => ({ host: '127.0.0.1', port })))
    kubernetes.mapService(installation.namespace, serviceName, { port: balancer.port })
    await registerWebhook(kubernetes, installation, caPem)

    const programs = { folder, cloud, kubernetes, installation }
    const webhooks = await Promise.all(
      tlsPorts.map((port, index) =>
        newProgram(programs, {
          kind: 'webhook',
          name: `webhook-${index + 1}`,
          httpPort: httpPorts[index] ?? 0,
          webhook: { port, certificateDirectory },
        }),
      ),
    )
    const reconciler = await newProgram(programs, {
      kind: 'reconciler',
      name: 'reconciler',
      httpPort: httpPorts[2] ?? 0,
      webhook: {},
    })
    const users = { webhook: installation.users.webhook.name, reconciler: installation.users.reconciler.name }
    return new World({ cloud, kubernetes, webhooks, reconciler, users, balancer })
  }

  get programs(): readonly Program[] {
    return [...this.webhooks, this.reconciler]
  }

  async startPrograms(): Promise<void> {
    await Promise.all(this.programs.map((program) => program.start()))
  }

  async startWebhooks(): Promise<void> {
    await Promise.all(this.webhooks.map((webhook) => webhook.start()))
  }

  async stopWebhooks(): Promise<void> {
    await Promise.all(this.webhooks.map((webhook) => webhook.stop()))
  }

  /** Asks every program to end, and gives a sentence for each that did not end as it should. */
  async stop(): Promise<readonly string[]> {
    const ends = await Promise.all(
      this.programs.map(async (program) => {
        // A crash was told when it was seen.
        const { hasCrashed } = program
        const end = await program.stop()
        if (hasCrashed || end === undefined || (end.code === 0 && !end.killed)) return []
        return [`${program.name} ended with ${end.signal ?? `exit code ${end.code}`} when it was asked to stop`]
      }),
    )
    await this.#balancer.stop()
    await this.kubernetes.stop()
    await this.cloud.close()
    return ends.flat()
  }
}

/** A class of disks, and what makes them. With `isDefault` it is taken for claims that name none. */
export async function createStorageClass(
  kubernetes: EmbeddedKubernetes,
  name: string,
  { provisioner, isDefault = false }: { readonly provisioner: string; readonly isDefault?: boolean },
): Promise<void> {
  await kubernetes.create('storageclasses', {
    metadata: {
      name,
      annotations: isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {},
    },
    provisioner,
    reclaimPolicy: 'Delete',
    // There are no pods here whose scheduling a disk could wait for.
    volumeBindingMode: 'Immediate',
  })
}

async function startKubernetes({ users, webhooks }: Installation, cloud: Ec2Fake): Promise<EmbeddedKubernetes> {
  const provision = (claim: KubeObject) => {
    const className = stringOf(claim.spec, 'storageClassName')
    const storageClass = className === undefined ? undefined : kubernetes.get('storageclasses', className)
    return makeDisk(cloud, claim, stringOf(storageClass, 'provisioner') ?? 'ebs.csi.aws.com')
  }
  const kubernetes: EmbeddedKubernetes = await EmbeddedKubernetes.start({
    users: [users.webhook, users.reconciler],
    volumeController: { delayMs: provisioningMs, provision },
    matchCondition: standInFor(webhooks.flatMap(({ matchConditions = [] }) => matchConditions)),
  })
  return kubernetes
}

/** Returns the authority's certificate, in PEM. */
async function writeCertificate(directory: string, serverName: string): Promise<string> {
  const authority = await CertificateAuthority.create('k8s-cloud-tagger demo')
  const { certificate, key } = await authority.issue([serverName])
  await mkdir(directory, { recursive: true })
  await writeFile(path.join(directory, 'tls.crt'), certificate)
  await writeFile(path.join(directory, 'tls.key'), key, { mode: 0o600 })
  return authority.certificate
}

async function registerWebhook(
  kubernetes: EmbeddedKubernetes,
  { namespace, webhooks }: Installation,
  caPem: string,
): Promise<void> {
  const service = { namespace, name: serviceName, path: '/validate', port: 443 }
  const clientConfig = { service, caBundle: Buffer.from(caPem).toString('base64') }
  await kubernetes.create('validatingwebhookconfigurations', {
    metadata: { name: 'k8s-cloud-tagger' },
    webhooks: webhooks.map((webhook) => ({ ...webhook, clientConfig })),
  })
}

async function newProgram(
  {
    folder,
    cloud,
    kubernetes,
    installation,
  }: {
    readonly folder: string
    readonly cloud: Ec2Fake
    readonly kubernetes: EmbeddedKubernetes
    readonly installation: Installation
  },
  {
    kind,
    name,
    httpPort,
    webhook,
  }: {
    readonly kind: 'webhook' | 'reconciler'
    readonly name: string
    readonly httpPort: number
    readonly webhook: object
  },
): Promise<Program> {
  return new Program({
    kind,
    name,
    folder,
    namespace: installation.namespace,
    kubeconfig: await kubernetes.kubeconfigFor(installation.users[kind].name, folder),
    httpPort,
    config: {
      cloudProvider: 'aws',
      clusterName: 'demo',
      requeue: { success: sweepInterval },
      http: { address: '127.0.0.1', port: httpPort },
      webhook: { address: '127.0.0.1', ...webhook },
      reconciler: { headStart },
      budget: { profile: 'exclusive', webhookReplicas: 2 },
      aws: { region, endpoint: cloud.url },
    },
  })
}
