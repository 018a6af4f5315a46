import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AppliedRecord } from '../../src/plan/applied-record.ts'
import { parseRecord } from '../../src/plan/record-codec.ts'
import { CertificateAuthority } from '../certificates.ts'
import type { KeyAndCertificate } from '../certificates.ts'
import { Ec2Fake, fakeCredentials } from '../ec2/ec2-fake.ts'
import type { RecordedCall } from '../ec2/recorded-call.ts'
import { numberedVolumeId } from '../ec2/control.ts'
import type { ClaimSpec, VolumeSpec } from '../kubernetes/bodies.ts'
import { EmbeddedKubernetes } from '../kubernetes/embedded-kubernetes.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { ProgramProcess } from './program-process.ts'
import type { ProgramName } from './program-process.ts'
import { RunningProgram } from './running-program.ts'
import { SecretFolder } from './secret-folder.ts'
import { productNamespace, rules, serviceAccount } from './service-accounts.ts'
import { matchCondition, webhookConfiguration } from './webhook-registration.ts'

const region = 'eu-west-1'

export interface InstallationOptions {
  /** Merged over the config that follows from the rest, group by group. */
  readonly config?: ConfigGroups
  /** Makes and binds disks for claims of the class `fast`. */
  readonly provisioner?: boolean
}

export type ConfigGroups = Readonly<Record<string, unknown>>

export interface StartOptions {
  /** The pod's name, and the service account's; default that of the program. */
  readonly name?: string
  readonly config?: ConfigGroups
}

export interface ReportRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type CloudHook = (call: RecordedCall) => void | Promise<void>

/**
 * A cluster and a cloud in this process, and the real programs beside them, each as a process of its own under a service
 * account with the rights that it ships with.
 */
export class Installation {
  readonly kubernetes: EmbeddedKubernetes
  readonly cloud: Ec2Fake
  readonly #authority: CertificateAuthority
  readonly #secret: SecretFolder
  readonly #folder: string
  readonly #config: ConfigGroups
  readonly #cloudHooks = new Set<CloudHook>()
  readonly #started = new Set<RunningProgram>()
  readonly #ports = new Map<string, { readonly http: number; readonly webhook: number }>()
  #disks = 0

  static async start(options: InstallationOptions = {}): Promise<Installation> {
    const authority = await CertificateAuthority.create('installation')
    const secret = await SecretFolder.create()
    await secret.swap(await authority.issue(['127.0.0.1']))
    const folder = await mkdtemp(join(tmpdir(), 'installation-'))
    const cloud = await Ec2Fake.start({ region })
    const kubernetes = await EmbeddedKubernetes.start({
      matchCondition,
      ...(options.provisioner === true && { volumeController: { provision: () => ({ handle: newDisk() }) } }),
    })
    const newDisk = () => installation.addDisk()
    const installation = new Installation({ authority, secret, folder, cloud, kubernetes }, options)
    await kubernetes.createNamespace(productNamespace)
    if (options.provisioner === true) {
      await kubernetes.create('storageclasses', {
        metadata: { name: 'fast' },
        provisioner: 'ebs.csi.aws.com',
        volumeBindingMode: 'Immediate',
      })
    }
    return installation
  }

  private constructor(
    parts: {
      readonly authority: CertificateAuthority
      readonly secret: SecretFolder
      readonly folder: string
      readonly cloud: Ec2Fake
      readonly kubernetes: EmbeddedKubernetes
    },
    { config = {} }: InstallationOptions,
  ) {
    this.#authority = parts.authority
    this.#secret = parts.secret
    this.#folder = parts.folder
    this.cloud = parts.cloud
    this.kubernetes = parts.kubernetes
    this.#config = config
    this.cloud.onCall = async (call) => {
      for (const hook of this.#cloudHooks) await hook(call)
    }
  }

  /** Kills what still runs. */
  async stop(): Promise<void> {
    await Promise.all([...this.#started].map(({ process }) => process.kill()))
    await this.kubernetes.stop()
    await this.cloud.close()
    await this.#secret.delete()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Starts a program and waits until it is ready. */
  async run(program: ProgramName, options?: StartOptions): Promise<RunningProgram> {
    const running = await this.launch(program, options)
    await running.ready()
    return running
  }

  /** Starts a program. One that is started again under its name gets the same addresses. */
  async launch(program: ProgramName, { name = program, config = {} }: StartOptions = {}): Promise<RunningProgram> {
    const account = serviceAccount(name)
    this.kubernetes.users.tokenOf(account)
    this.kubernetes.users.setRules(account, rules[program])
    const ports = this.#ports.get(name) ?? { http: await freePort(), webhook: await freePort() }
    this.#ports.set(name, ports)
    const configPath = join(this.#folder, `${name}.yaml`)
    const merged = mergeGroups(this.#defaults(ports), this.#config, config)
    // YAML takes JSON as it is.
    await writeFile(configPath, JSON.stringify(merged))
    const process = new ProgramProcess({
      program,
      env: {
        CONFIG_PATH: configPath,
        KUBECONFIG: await this.kubernetes.kubeconfigFor(account, this.#folder),
        POD_NAME: name,
        POD_NAMESPACE: productNamespace,
        AWS_ACCESS_KEY_ID: fakeCredentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: fakeCredentials.secretAccessKey,
      },
    })
    const running = new RunningProgram({ process, name, account, ports })
    this.#started.add(running)
    return running
  }

  webhook(options?: StartOptions): Promise<RunningProgram> {
    return this.run('webhook', options)
  }

  reconciler(options?: StartOptions): Promise<RunningProgram> {
    return this.run('reconciler', options)
  }

  /** Runs the report to its end, with the rights that it needs and no others. */
  async report(args: readonly string[] = [], config: ConfigGroups = {}): Promise<ReportRun> {
    const process = await this.launchReport(args, config)
    const { code } = await process.exited
    return { code, stdout: process.stdout, stderr: process.stderr }
  }

  async launchReport(args: readonly string[] = [], config: ConfigGroups = {}): Promise<ProgramProcess> {
    const account = serviceAccount('report')
    this.kubernetes.users.tokenOf(account)
    this.kubernetes.users.setRules(account, rules.report)
    const configPath = join(this.#folder, 'report.yaml')
    const ports = { http: await freePort(), webhook: await freePort() }
    await writeFile(configPath, JSON.stringify(mergeGroups(this.#defaults(ports), this.#config, config)))
    return new ProgramProcess({
      program: 'report',
      args,
      env: {
        CONFIG_PATH: configPath,
        KUBECONFIG: await this.kubernetes.kubeconfigFor(account, this.#folder),
        AWS_ACCESS_KEY_ID: fakeCredentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: fakeCredentials.secretAccessKey,
      },
    })
  }

  /** Has the API server call a webhook at this port. Replaces an earlier registration of the name. */
  async register(
    port: number,
    options: { readonly name?: string; readonly namespaces?: readonly string[] } = {},
  ): Promise<void> {
    const { name = 'k8s-cloud-tagger' } = options
    const body = webhookConfiguration({
      ...options,
      name,
      url: `https://127.0.0.1:${port}/validate`,
      ca: this.#authority.certificate,
    })
    const resource = 'validatingwebhookconfigurations'
    if (this.kubernetes.get(resource, name) !== undefined) await this.kubernetes.delete(resource, name)
    await this.kubernetes.create(resource, body)
  }

  /** For a webhook of this installation. */
  issueCertificate(): Promise<KeyAndCertificate> {
    return this.#authority.issue(['127.0.0.1'])
  }

  /** A disk with these tags and what a CSI driver puts there; gives its id. */
  addDisk(tags: Readonly<Record<string, string>> = {}): string {
    const id = numberedVolumeId(++this.#disks)
    this.cloud.addVolume(id, { tags })
    return id
  }

  /** A claim that has been bound for a long time, past every webhook, to a disk that was there before us. */
  boundClaim(
    claim: ClaimSpec,
    tags: Readonly<Record<string, string>> = {},
  ): { readonly disk: string; readonly volume: string } {
    const disk = this.addDisk(tags)
    const volume = `pv-${claim.namespace ?? 'default'}-${claim.name}`
    this.kubernetes.seedBoundClaim({ ...claim, volumeName: volume }, disk)
    return { disk, volume }
  }

  /** A claim that names this volume, and the volume that is kept for it: what a static or unusual source looks like. */
  async boundVolume(claim: ClaimSpec, volume: Omit<VolumeSpec, 'claimRef'>): Promise<void> {
    const created = await this.kubernetes.createClaim({ ...claim, volumeName: volume.name })
    const { namespace = 'default', name, uid } = created.metadata
    await this.kubernetes.createVolume({ ...volume, claimRef: { namespace, name, uid } })
  }

  recordOf(volume: string): AppliedRecord | undefined {
    const annotations = this.kubernetes.get('persistentvolumes', volume)?.metadata.annotations
    const parsed = parseRecord(annotations?.['k8s-cloud-tagger/applied'])
    return parsed.kind === 'record' ? parsed.record : undefined
  }

  /** Called with each call to the cloud, before anything happens, and awaited. Returns how to take the hook off. */
  onCloudCall(hook: CloudHook): () => void {
    this.#cloudHooks.add(hook)
    return () => void this.#cloudHooks.delete(hook)
  }

  /** A sweep that has just ended, so that none is due while a test counts calls. */
  async rememberSweep(): Promise<void> {
    const note = { 'k8s-cloud-tagger/last-sweep': new Date().toISOString() }
    await this.kubernetes.create(
      'leases',
      { metadata: { name: 'k8s-cloud-tagger-reconciler', annotations: note }, spec: {} },
      productNamespace,
    )
  }

  async untilTagged(disk: string, tags: Readonly<Record<string, string>>, withinMs = 10_000): Promise<void> {
    const present = () => JSON.stringify(sorted(this.cloud.tagsOf(disk)))
    const wanted = JSON.stringify(sorted(tags))
    const problem = () => `${disk} has ${present()} instead of ${wanted}\n${this.#lastWords()}`
    await eventually(problem, () => present() === wanted, withinMs)
  }

  #lastWords(): string {
    const running = [...this.#started].filter(({ process }) => process.isRunning)
    return running.map(({ name, process }) => `--- ${name}\n${process.lastWords}`).join('\n')
  }

  #defaults(ports: { readonly http: number; readonly webhook: number }): ConfigGroups {
    return {
      cloudProvider: 'aws',
      http: { address: '127.0.0.1', port: ports.http },
      webhook: { address: '127.0.0.1', port: ports.webhook, certificateDirectory: this.#secret.path },
      budget: { profile: 'exclusive', webhookReplicas: 1 },
      aws: { region, endpoint: this.cloud.url },
    }
  }
}

function mergeGroups(...all: readonly ConfigGroups[]): object {
  const merged: Record<string, unknown> = {}
  for (const groups of all) {
    for (const [name, group] of Object.entries(groups)) {
      merged[name] = typeof group === 'object' ? { ...(merged[name] as object | undefined), ...group } : group
    }
  }
  return merged
}

function sorted(tags: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(tags).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
