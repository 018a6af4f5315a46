import type { ClaimKey } from '../src/claims/claim-key.ts'
import type { ConflictPolicy } from '../src/plan/plan.ts'
import type { DiskProvider } from '../src/providers/provider.ts'
import type { Hints } from '../src/queue/hints.ts'
import type { Clock } from '../src/runtime/clock.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { intentTiming } from '../src/tagger/intent-timing.ts'
import type { Outcome } from '../src/tagger/outcome.ts'
import { Tagger } from '../src/tagger/tagger.ts'
import type { TaggerDeps } from '../src/tagger/tagger.ts'
import type { TaggingRules } from '../src/tagger/tagging-rules.ts'
import { Upstream } from '../src/tagger/upstream.ts'
import type { ClusterInHand } from './cluster-in-hand.ts'
import { taggingRules } from './tagging-rules.ts'

export interface TaggerProcessOptions {
  readonly cluster: ClusterInHand
  readonly cloud: DiskProvider
  readonly clock: Clock
  readonly identity?: string
  readonly policy?: ConflictPolicy
  /** The rules, as a config has them. */
  readonly config?: string | object
  readonly tagging?: Partial<TaggingRules>
  readonly reportOnly?: boolean
  readonly volumesOf?: TaggerDeps['volumesOf']
  /** The step at which this process is killed: `before …` or `after …`, see `steps`. */
  readonly killedAt?: string
}

/**
 * One process that runs the path, and that can be killed at any step: from then on nothing that it does reaches the
 * cluster or the cloud, and nothing that they answer reaches it.
 */
export class TaggerProcess {
  readonly tagger: Tagger
  /** Every step that was passed, in order. */
  readonly steps: string[] = []
  readonly unsettled: ClaimKey[] = []
  readonly #killedAt: string | undefined
  readonly #death = Promise.withResolvers<'killed'>()
  #dead = false

  constructor(options: TaggerProcessOptions) {
    const { cluster, cloud, clock, identity = 'pod-a', policy = 'overwrite', killedAt, config, volumesOf } = options
    this.#killedAt = killedAt
    const provider = this.#mortal(cloud)
    this.tagger = new Tagger({
      ...taggingRules({ provider, clock, conflict: policy, config, ...options.tagging }),
      volumesOf,
      reportOnly: options.reportOnly ?? false,
      reader: {
        claim: (key) => this.#step('get claim', () => cluster.claim(key)),
        volume: (name) => this.#step('get volume', () => cluster.volume(name)),
        namespace: (name) => this.#step('get namespace', () => cluster.namespace(name)),
      },
      records: {
        writeRecord: (volume, record) => {
          const applied = typeof record === 'string' ? record : record()
          const name = applied.includes('"intent"') ? 'open record' : 'settle record'
          return this.#step(name, () => cluster.writeRecord(volume, applied))
        },
      },
      events: { record: (claim, event) => void (this.#dead || cluster.record(claim, event)) },
      upstream: new Upstream({ unstarted: () => 0, onArrival: () => {} }),
      clock,
      logger: silentLogger,
      timing: intentTiming(10_000),
      identity,
      onUnsettled: (key) => void this.unsettled.push(key),
    })
  }

  /** One pass, its settle included. */
  async pass(key: ClaimKey, hints: Partial<Hints> = {}): Promise<Outcome | 'killed'> {
    const outcome = await this.passUnsettled(key, hints)
    await Promise.race([this.tagger.settler.drained(), this.#death.promise])
    return outcome
  }

  passUnsettled(key: ClaimKey, hints: Partial<Hints> = {}): Promise<Outcome | 'killed'> {
    const { signal } = new AbortController()
    return Promise.race([this.tagger.tag(key, { lane: 'fresh', ...hints }, signal), this.#death.promise])
  }

  #mortal(cloud: DiskProvider): DiskProvider {
    return {
      name: cloud.name,
      replacesWholeSet: cloud.replacesWholeSet,
      tagsPerDisk: cloud.tagsPerDisk,
      readLagMs: cloud.readLagMs,
      scopeOf: (disk) => cloud.scopeOf(disk),
      normalize: (desired, enforced) => cloud.normalize(desired, enforced),
      isProtectedKey: (key) => cloud.isProtectedKey(key),
      canonicalKey: (key) => cloud.canonicalKey(key),
      getTags: (disk, options) => this.#step('read tags', () => cloud.getTags(disk, options)),
      listTags: (disks, options) => cloud.listTags(disks, options),
      applyChanges: async (disk, changes, observed, { beforeSend, ...options }) => {
        const sendByMs = await beforeSend?.()
        const again = sendByMs === undefined ? {} : { beforeSend: () => Promise.resolve(sendByMs) }
        await this.#step('write tags', () => cloud.applyChanges(disk, changes, observed, { ...options, ...again }))
      },
    }
  }

  async #step<T>(name: string, act: () => Promise<T>): Promise<T> {
    this.#pass(`before ${name}`)
    if (this.#dead) return new Promise(() => {})
    const result = await act()
    this.#pass(`after ${name}`)
    return this.#dead ? new Promise(() => {}) : result
  }

  #pass(step: string): void {
    if (this.#dead) return
    this.steps.push(step)
    if (step !== this.#killedAt) return
    this.#dead = true
    this.#death.resolve('killed')
  }
}
