import path from 'node:path'
import { mkdirSync } from 'node:fs'
import { serializeRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import { bindClaim, inParallel, type ClaimAndVolume } from '../src/bulk.ts'
import { setUpCluster, type ClusterSetup } from '../src/cluster-setup.ts'
import { startControlPlane, type ControlPlane } from '../src/control-plane.ts'
import type { Kube } from '../src/kube.ts'
import type { PersistentVolume, PersistentVolumeClaim, Stored } from '../src/kube-objects.ts'
import { Product, type ProductOptions } from '../src/product.ts'
import { gp3, newClaim, provisionedVolume } from '../src/volumes.ts'
import type { BenchCloud, CloudName } from './clouds/bench-cloud.ts'
import { startCloud } from './clouds/start-cloud.ts'
import { MemoryWatch } from './memory-watch.ts'

/** A claim with its disk. */
export interface TaggedPair extends ClaimAndVolume {
  readonly disk: string
  /** What its labels are, and its tags are to be: in a form that every cloud takes as it is. */
  readonly labels: Readonly<Record<string, string>>
}

export interface StageOptions {
  readonly cloud: CloudName
  readonly claims: number
  readonly dir: string
  /** The bundled command that is measured. */
  readonly command: string
  readonly log: (line: string) => void
}

/** Foreign disks in the account for each claim. */
const foreignPerClaim = 10
const apps = 50
const namespace = 'bench'
const concurrency = 48
const applied = 'k8s-cloud-tagger/applied'
/** Beyond every span in which a sweep leaves a disk alone that was written a moment ago. */
const longAgoMs = 3_600_000

/**
 * A control plane, a cloud, and so many claims bound to disks that were there before us; beside them ten times as many
 * disks of others. Rows run on it one after another, each with a product of its own.
 */
export class Stage {
  readonly cloud: BenchCloud
  readonly setup: ClusterSetup
  readonly plane: ControlPlane
  readonly log: (line: string) => void
  readonly pairs: readonly TaggedPair[]
  readonly #options: StageOptions
  #tagged = false
  readonly #newPairs: TaggedPair[] = []
  #products = 0
  #batches = 0

  private constructor(
    options: StageOptions,
    parts: {
      readonly cloud: BenchCloud
      readonly plane: ControlPlane
      readonly setup: ClusterSetup
      readonly pairs: readonly TaggedPair[]
    },
  ) {
    this.#options = options
    this.cloud = parts.cloud
    this.plane = parts.plane
    this.setup = parts.setup
    this.pairs = parts.pairs
    this.log = options.log
  }

  static async open(options: StageOptions): Promise<Stage> {
    const dir = path.join(options.dir, 'plane')
    mkdirSync(dir, { recursive: true })
    // The controller binds fifty claims a second, which would be the figure; `bindClaim` does the same write.
    const plane = await startControlPlane({ dir, volumeController: false, report: options.log })
    let cloud: BenchCloud | undefined
    try {
      const setup = await setUpCluster(plane, { dir })
      await plane.kube.apply(gp3)
      await plane.kube.createNamespace(namespace)
      cloud = await startCloud(options.cloud, { dir })
      const pairs = await boundLongAgo(plane.kube, cloud, options.claims)
      cloud.addForeignDisks(options.claims * foreignPerClaim)
      return new Stage(options, { cloud, plane, setup, pairs })
    } catch (error) {
      await cloud?.close()
      await plane.stop()
      throw error
    }
  }

  get kube(): Kube {
    return this.plane.kube
  }

  get claims(): number {
    return this.#options.claims
  }

  /** Has to be told by a row that had the product write to the disks of `pairs`. */
  pairsWereWritten(): void {
    this.#tagged = false
  }

  /**
   * Every disk of `pairs` carries its tags and every record says so since an hour, as if the product had been there. The
   * first thing that a row sees is that a product has nothing to do.
   */
  async tagAll(): Promise<void> {
    if (this.#tagged) return
    const settledAtMs = Date.now() - longAgoMs
    await inParallel(this.pairs.length, (i) => this.#tagByHand(this.pairs[i], settledAtMs), { concurrency })
    this.#tagged = true
  }

  /** Runs a product while `work` does, two webhooks and a reconciler where nothing else is said. */
  async withProduct<T>(
    options: Pick<ProductOptions, 'config' | 'webhooks' | 'reconciler'>,
    work: (running: { readonly product: Product; readonly memory: MemoryWatch }) => Promise<T>,
  ): Promise<T> {
    const memory = new MemoryWatch()
    let product: Product | undefined
    try {
      product = await Product.start({
        ...options,
        cluster: this.plane,
        setup: this.setup,
        dir: this.#productFolder(++this.#products),
        command: this.#options.command,
        cloud: this.cloud.product,
        onProcess: (process) => memory.add(process),
      })
      return await work({ product, memory })
    } finally {
      memory.stop()
      await product?.stop()
      this.cloud.resetTally()
    }
  }

  /** The certificate of the webhooks that run now. */
  get tlsFolder(): string {
    return path.join(this.#productFolder(this.#products), 'tls')
  }

  /** Claims with disks that were provisioned for them just now; their bind is what tags them. */
  async newPairs(count: number): Promise<readonly TaggedPair[]> {
    const { kube, cloud } = this
    const batch = ++this.#batches
    const pairs = await inParallel(
      count,
      async (i) => {
        const labels = labelsOf(i)
        const claim = await kube.claims.create(newClaim(`new-${batch}-${i}`, { namespace, labels }))
        const disk = cloud.handleOf(claim.metadata.uid)
        cloud.addDisk(disk)
        const volume = provisionedVolume(claim, { driver: cloud.csiDriver, volumeHandle: disk })
        return { claim, volume: await kube.volumes.create(volume), disk, labels }
      },
      { concurrency },
    )
    this.#newPairs.push(...pairs)
    return pairs
  }

  /** Takes away what a row brought, so that the next one does not find it half done. */
  async removeNewPairs(): Promise<void> {
    const pairs = this.#newPairs.splice(0)
    const remove = async ({ claim, volume }: TaggedPair) => {
      await this.kube.claims.delete(claim)
      await this.kube.volumes.delete(volume)
    }
    await inParallel(pairs.length, async (i) => pairs[i] && remove(pairs[i]), { concurrency })
  }

  /** Resolves, with the wall time of the API server's answer, when the claim names its volume. */
  async bind(pair: TaggedPair): Promise<number> {
    await bindClaim(this.kube, pair, { status: false })
    return Date.now()
  }

  async close(): Promise<void> {
    await this.cloud.close()
    await this.plane.stop()
  }

  #productFolder(number: number): string {
    return path.join(this.#options.dir, `product-${number}`)
  }

  async #tagByHand(pair: TaggedPair | undefined, settledAtMs: number): Promise<void> {
    if (pair === undefined) return
    const tags = Object.entries(pair.labels)
    const now = this.cloud.tagsOf(pair.disk)
    for (const [key, value] of tags) if (now[key] !== value) this.cloud.setTag(pair.disk, key, value)
    const record = serializeRecord({
      volumeUid: pair.volume.metadata.uid,
      claimUid: pair.claim.metadata.uid,
      cloud: this.cloud.name,
      diskId: this.cloud.diskIdOf(pair.disk),
      settledAtMs,
      settled: new Map(tags.map(([key, value]) => [key, { value, before: false }])),
      left: new Map(),
      intent: undefined,
    })
    await this.kube.volumes.annotate(pair.volume, { [applied]: record })
  }
}

/** Fifty apps with four labels each. */
export function labelsOf(i: number): Readonly<Record<string, string>> {
  const app = i % apps
  return { app: `app-${app}`, team: `team-${app % 7}`, env: app % 3 === 0 ? 'prod' : 'test', tier: `tier-${app % 4}` }
}

/**
 * Bound by their own words, in two writes in place of four: nobody else looks at them. That the volume's name is not the
 * one that a provisioner would have given it tells the product that the disk may be older than the claim.
 */
async function boundLongAgo(kube: Kube, cloud: BenchCloud, count: number): Promise<readonly TaggedPair[]> {
  return inParallel(
    count,
    async (i) => {
      const labels = labelsOf(i)
      const volumeName = `bench-${i}`
      const disk = cloud.handleOf(volumeName)
      cloud.addDisk(disk)
      const wanted = newClaim(`claim-${i}`, { namespace, labels, volumeName })
      const claim: Stored<PersistentVolumeClaim> = await kube.claims.create(wanted)
      const provisioned = provisionedVolume(claim, { driver: cloud.csiDriver, volumeHandle: disk })
      const metadata = { ...provisioned.metadata, name: volumeName }
      const volume: Stored<PersistentVolume> = await kube.volumes.create({ ...provisioned, metadata })
      return { claim, volume, disk, labels }
    },
    { concurrency },
  )
}
