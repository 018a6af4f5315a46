import type { ProductCloud } from '../../src/product.ts'

export const cloudNames = ['aws', 'gcp', 'azure'] as const
export type CloudName = (typeof cloudNames)[number]

/** Every answer takes as long. */
export const answerMs = 100

/** What the cloud was asked for; tokens and metadata are not counted. */
export interface CallTally {
  readonly calls: number
  readonly writes: number
  readonly throttled: number
  /** Refused for another reason, or given up by the client. */
  readonly failed: number
}

/** One of the clouds, played by its fake in this process, as the rows need it. Disks go by their CSI handles. */
export interface BenchCloud {
  readonly name: CloudName
  /** For people. */
  readonly title: string
  readonly csiDriver: string
  /** What the product is told. */
  readonly product: ProductCloud
  /** The handle of the disk that a CSI driver makes for this seed; stable. */
  handleOf(seed: string): string
  /** How records spell that disk. */
  diskIdOf(handle: string): string
  /** A disk as the CSI driver leaves it, with these tags besides. */
  addDisk(handle: string, tags?: Readonly<Record<string, string>>): void
  /** Disks of other clusters in the same account, numbered from `first`. */
  addForeignDisks(count: number): void
  tagsOf(handle: string): Readonly<Record<string, string>>
  setTag(handle: string, key: string, value: string): void
  /** Wall time of the disk's last change. */
  changedAtMs(handle: string): number
  tally(): CallTally
  /** For people: `CreateTags 12, DescribeVolumes 20`. */
  describeCalls(): string
  resetTally(): void
  /** The quota that the cloud publishes; full when it is switched on. */
  enforceQuota(on: boolean): void
  /** Refuses every n-th write as too many; undefined ends it. */
  throttleEvery(n: number | undefined): void
  /** The next write to this disk gets no answer. */
  hangNextWrite(handle: string): { readonly hits: number; clear(): void }
  close(): Promise<void>
}

/** The tests' surroundings must not weigh on what is measured. */
export const plainEnvironment = {
  NODE_OPTIONS: undefined,
  NODE_EXTRA_CA_CERTS: undefined,
  SSL_CERT_FILE: undefined,
  SSL_CERT_DIR: undefined,
} as const
