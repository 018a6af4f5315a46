import { splitClaimKey } from '../claims/claim-key.ts'
import type { ClaimKey } from '../claims/claim-key.ts'
import type { Claim } from '../claims/claim.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import { resolveDisk } from '../claims/resolve.ts'
import type { Resolution } from '../claims/resolve.ts'
import type { Volume } from '../claims/volume.ts'
import { KubernetesError } from '../kubernetes/kubernetes-error.ts'
import { serializeRecord } from '../plan/record-codec.ts'
import { asProviderError } from '../providers/provider-error.ts'
import { isLaterVersion } from '../queue/hints.ts'
import type { Hints } from '../queue/hints.ts'
import { KeyedLock } from '../queue/keyed-lock.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { IntentTiming } from './intent-timing.ts'
import { sharedDiskEvent, unsupportedEvent } from './claim-events.ts'
import { ContestedTags } from './contested-tags.ts'
import { DiskPass } from './disk-pass.ts'
import type { DiskPassDeps } from './disk-pass.ts'
import type { Outcome } from './outcome.ts'
import type { ClusterCallOptions, ClusterReader, EventSink, RecordWriter } from './ports.ts'
import { emptyRecord, ownRecord, recordBasis } from './record-basis.ts'
import { Settler } from './settler.ts'
import type { TaggingRules } from './tagging-rules.ts'
import type { Upstream, UpstreamJob } from './upstream.ts'

export interface TaggerDeps extends TaggingRules {
  readonly reader: ClusterReader
  readonly records: RecordWriter
  readonly events: EventSink
  readonly upstream: Upstream
  readonly clock: Clock
  readonly logger: Logger
  readonly timing: IntentTiming
  readonly reportOnly: boolean
  /** This process, for its intents. Unique among processes that live at once; a pod's name stays the same over restarts. */
  readonly identity: string
  /** The record of a claim could not be closed, for the `failures`th time in a row; it has to come by with `observe`. */
  readonly onUnsettled: (key: ClaimKey, failures: number) => void
  /**
   * All claimed volumes that name this disk, the one whose claim counts first; known only to who sees them all. Others go
   * by the mark that it leaves on the rest.
   */
  readonly volumesOf?: ((disk: DiskRef) => readonly Volume[]) | undefined
  /** A younger volume was marked: what its claim had put on the disk is for this one's claim to settle. */
  readonly onYield?: ((elder: Volume) => void) | undefined
}

/**
 * THE PATH: resolve, wish, recorded?, observe, plan, intend, write, settle. Every door leads here with a key, and the
 * present state decides; what the door saw is never acted on.
 */
export class Tagger {
  readonly #deps: TaggerDeps
  readonly #settler: Settler
  /** Two volumes can name one disk, so a lock by key would not do. */
  readonly #disks = new KeyedLock<string>()
  /** One for all passes: thousands are under way at once. */
  readonly #passDeps: DiskPassDeps

  constructor(deps: TaggerDeps) {
    this.#deps = deps
    this.#settler = new Settler({ records: deps.records, logger: deps.logger, onUnsettled: deps.onUnsettled })
    this.#passDeps = {
      ...deps,
      settler: this.#settler,
      contested: new ContestedTags(deps.clock),
      answered: new Set(),
    }
  }

  get settler(): Settler {
    return this.#settler
  }

  async tag(key: ClaimKey, hints: Hints, signal: AbortSignal): Promise<Outcome> {
    const job = this.#deps.upstream.start(hints.lane)
    try {
      return await this.#tag(key, hints, { signal, job })
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' }
      return failure(error)
    } finally {
      job.ended()
    }
  }

  async #tag(
    key: ClaimKey,
    hints: Hints,
    { signal, job }: { readonly signal: AbortSignal; readonly job: UpstreamJob },
  ): Promise<Outcome> {
    const cluster: ClusterCallOptions = { signal, priority: hints.lane === 'fresh' ? 'foreground' : 'bulk' }
    const { claim, volume, namespace } = await this.#read(key, hints, cluster)
    if (isStale(claim, hints)) return { kind: 'stale', found: claim?.uid === hints.uid }

    const resolution = this.#managed(claim, namespace) ?? resolveDisk(claim, volume, this.#deps.cloud)
    switch (resolution.kind) {
      case 'skip':
        if (claim !== undefined && resolution.reason === 'malformed-handle') {
          this.#deps.events.record(claim, unsupportedEvent(resolution.detail ?? ''))
        }
        return { ...resolution, kind: 'skipped' }
      case 'pending':
        return resolution
      case 'ready':
        break
      default:
        return resolution satisfies never
    }
    const subject = { ...resolution, namespace }
    return this.#yields(subject) ?? this.#tagDisk(subject, hints, { cluster, job })
  }

  /** What the rules say about a claim before its disk matters; undefined where they have nothing against it. */
  #managed(claim: Claim | undefined, namespace: NamespaceInfo | undefined): Resolution | undefined {
    const { rules } = this.#deps
    if (claim === undefined || claim.deleting) return undefined
    if (rules.needsNamespace && namespace === undefined) return { kind: 'pending', reason: 'namespace-not-found' }
    const reason = rules.outOfScope({ claim, namespace })
    return reason === undefined ? undefined : { kind: 'skip', reason }
  }

  /** Two volumes can name one disk: the older one's claim counts, and the other is marked, so that everybody knows. */
  #yields({ claim, volume, disk }: PassSubject): Outcome | undefined {
    const { cloud, volumesOf, events, clock, reportOnly, onYield } = this.#deps
    const record = ownRecord(recordBasis(volume, disk, cloud))
    const skipped: Outcome = { kind: 'skipped', reason: 'disk-of-another-volume' }
    // Whoever does not see all volumes goes by the mark.
    if (volumesOf === undefined) return record?.yieldsTo === undefined ? undefined : skipped
    const [elder] = volumesOf(disk)
    if (elder === undefined || elder.uid === volume.uid) return undefined
    if (record?.yieldsTo !== elder.name && !reportOnly) {
      const basis = record ?? emptyRecord({ claim, volume, disk, cloud }, clock.wallMs())
      this.#settler.settle(claim.key, volume, serializeRecord({ ...basis, intent: undefined, yieldsTo: elder.name }))
      events.record(claim, sharedDiskEvent(disk, elder))
      onYield?.(elder)
    }
    return skipped
  }

  async #tagDisk(
    subject: PassSubject,
    hints: Hints,
    call: { readonly cluster: ClusterCallOptions; readonly job: UpstreamJob },
  ): Promise<Outcome> {
    // The quick answer for the many claims that a start or a relist sends by.
    const quick = this.#pass(subject, hints, call)
    if (quick.isRecorded) {
      if (hints.lane === 'fresh' && hints.expectWebhook !== true) quick.reportProblems()
      return { kind: 'in-sync' }
    }
    if (hints.lane === 'bulk') await this.#settler.hasRoom()
    return this.#disks.run(subject.disk.id, async () => {
      const latest = await this.#settler.takeOver(subject.volume)
      return latest === undefined ? quick.run() : this.#pass({ ...subject, ...latest }, hints, call).run()
    })
  }

  #pass(
    { claim, namespace, volume, disk, decided }: PassSubject,
    hints: Hints,
    { cluster, job }: { readonly cluster: ClusterCallOptions; readonly job: UpstreamJob },
  ): DiskPass {
    const call = { signal: cluster.signal, lane: hints.lane }
    const driftSuspected = hints.observe === true
    const juniors = (this.#deps.volumesOf?.(disk) ?? []).filter(({ uid }) => uid !== volume.uid)
    return new DiskPass(this.#passDeps, {
      claim,
      namespace,
      volume,
      disk,
      juniors,
      decided,
      cluster,
      call,
      driftSuspected,
      job,
    })
  }

  async #read(
    key: ClaimKey,
    hints: Hints,
    options: ClusterCallOptions,
  ): Promise<{ claim: Claim | undefined; volume: Volume | undefined; namespace: NamespaceInfo | undefined }> {
    const { reader, rules } = this.#deps
    // A bind review names the volume, and a claim's volume never changes, so both reads can be under way at once.
    const guess = hints.volumeName === undefined ? undefined : reader.volume(hints.volumeName, options)
    guess?.catch(() => undefined)
    const surroundings = rules.needsNamespace ? reader.namespace(splitClaimKey(key).namespace, options) : undefined
    surroundings?.catch(() => undefined)
    const claim = await reader.claim(key, options)
    const namespace = await surroundings
    const name = claim?.volumeName
    if (name === undefined) return { claim, namespace, volume: undefined }
    const volume = guess !== undefined && name === hints.volumeName ? await guess : await reader.volume(name, options)
    return { claim, namespace, volume }
  }
}

interface PassSubject {
  readonly claim: Claim
  readonly namespace: NamespaceInfo | undefined
  readonly volume: Volume
  readonly disk: DiskRef
  readonly decided?: string | undefined
}

function isStale(claim: Claim | undefined, hints: Hints): boolean {
  // Not there yet, or deleted meanwhile: from here both look alike.
  if (claim === undefined) return hints.uid !== undefined || hints.newerThan !== undefined
  if (hints.uid !== undefined && claim.uid !== hints.uid) return true
  return hints.newerThan !== undefined && !isLaterVersion(claim.resourceVersion, hints.newerThan)
}

function failure(error: unknown): Outcome {
  if (error instanceof KubernetesError) {
    return { kind: 'cluster-failure', reason: error.kind, message: error.message, retryAfterMs: error.retryAfterMs }
  }
  const { kind, code, message, retryAfterMs } = asProviderError(error)
  // Only reads fail outside the writing step, and a read changes nothing.
  return { kind: 'cloud-failure', reason: kind, code, message, retryAfterMs, outcomeUnknown: false, observed: false }
}
