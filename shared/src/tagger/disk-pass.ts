import type { Claim } from '../claims/claim.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import type { Volume } from '../claims/volume.ts'
import { fulfils } from '../plan/applied-record.ts'
import type { AppliedRecord, Intent, TouchedTag } from '../plan/applied-record.ts'
import { unite } from '../plan/ownership.ts'
import type { Ownership } from '../plan/ownership.ts'
import { planChanges } from '../plan/plan.ts'
import type { Plan } from '../plan/plan.ts'
import { serializeRecord } from '../plan/record-codec.ts'
import { isEmpty } from '../plan/tag-changes.ts'
import { asProviderError, ProviderError } from '../providers/provider-error.ts'
import type { CallOptions, ObservedTags } from '../providers/provider.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Wish } from '../tags/wish.ts'
import { contestedEvent, skippedEvent, taggedEvent, unreadableRecordEvent } from './claim-events.ts'
import { rewrittenKeys, withoutKeys } from './contested-plan.ts'
import type { ContestedTags } from './contested-tags.ts'
import { intentLifetimeMs } from './intent-timing.ts'
import type { IntentTiming } from './intent-timing.ts'
import { isFreshVolume, needsObservation } from './needs-observation.ts'
import type { Outcome } from './outcome.ts'
import type { ClusterCallOptions, EventSink, RecordWriter } from './ports.ts'
import { emptyRecord, ownedOnDisk, ownRecord, recordBasis } from './record-basis.ts'
import type { RecordBasis } from './record-basis.ts'
import type { Settler } from './settler.ts'
import { mayRemoveFrom, wishOf } from './tagging-rules.ts'
import type { TaggingRules } from './tagging-rules.ts'
import type { UpstreamJob } from './upstream.ts'

export interface DiskPassDeps extends TaggingRules {
  readonly records: RecordWriter
  readonly events: EventSink
  readonly clock: Clock
  readonly logger: Logger
  readonly timing: IntentTiming
  readonly identity: string
  readonly settler: Settler
  readonly contested: ContestedTags
  /** Everything is computed, nothing is written. */
  readonly reportOnly: boolean
  /** Volumes whose open intent is ours and of which every call was answered: nothing of it can land late. */
  readonly answered: Set<string>
}

export interface DiskPassInput {
  readonly claim: Claim
  readonly namespace: NamespaceInfo | undefined
  readonly volume: Volume
  readonly disk: DiskRef
  /** Younger volumes of the same disk: what their records say is ours as well. */
  readonly juniors: readonly Volume[]
  /** A record that was decided and not written: it counts, and what the volume carries is what a write has to find. */
  readonly decided?: string | undefined
  readonly cluster: ClusterCallOptions
  readonly call: CallOptions
  readonly driftSuspected: boolean
  readonly job: UpstreamJob
}

/** An intent of ours of which a call may still land: until then the record stays open, whatever was written since. */
type Hold = Pick<Intent, 'untilMs' | 'touched'>

// Clocks of two processes differ a little, and so do a deadline and what a cloud makes of it.
const recheckSlackMs = 500

/** Steps 2 to 8 of the path, for one disk that nobody else in this process is working on. */
export class DiskPass {
  readonly #deps: DiskPassDeps
  readonly #input: DiskPassInput
  readonly #basis: RecordBasis
  readonly #record: AppliedRecord | undefined
  readonly #wish: Wish

  constructor(deps: DiskPassDeps, input: DiskPassInput) {
    this.#deps = deps
    this.#input = input
    const { volume, disk, decided } = input
    this.#basis = recordBasis(decided === undefined ? volume : { ...volume, applied: decided }, disk, deps.cloud)
    this.#record = this.#answeredRecord(ownRecord(this.#basis))
    this.#wish = wishOf(input, deps)
  }

  /** The annotation still shows an intent that is over: others would wait for it, so it has to be closed. */
  #isUnwritten(): boolean {
    return this.#input.decided !== undefined || ownRecord(this.#basis)?.intent !== this.#record?.intent
  }

  /** An intent of ours of which every call was refused or never sent: as if it had not been opened. */
  #answeredRecord(record: AppliedRecord | undefined): AppliedRecord | undefined {
    const { answered, identity } = this.#deps
    if (record?.intent?.by !== identity || !answered.has(this.#input.volume.uid)) return record
    return { ...record, intent: undefined }
  }

  async run(): Promise<Outcome> {
    if (this.isRecorded) return { kind: 'in-sync' }
    const busy = this.#othersIntent()
    if (busy !== undefined) return busy

    const observed = await this.#observe()
    const plan = this.#plan(observed)
    if (this.#deps.reportOnly) return this.#report(plan)
    return isEmpty(plan.changes) ? this.#confirm(plan) : this.#write(plan, observed)
  }

  #plan(observed: ObservedTags | undefined): Plan {
    const { provider, conflict, adopt, brake, contested, reportOnly } = this.#deps
    const { disk, driftSuspected } = this.#input
    const mayRemove = mayRemoveFrom(disk.id, this.#wish, this.#deps)
    brake.release(disk.id, (key) => this.#wish.tags.has(key))
    const plan = planChanges({
      wish: this.#wish.tags,
      owned: this.#owned(),
      observed: observed?.tags,
      policy: conflict,
      // Only a removal that will be made counts.
      mayRemove: (key) => mayRemove(key) && (reportOnly || brake.admits(key, disk.id)),
      adopt,
      limit: provider.tagsPerDisk,
    })
    if (driftSuspected) return plan
    return withoutKeys(
      plan,
      this.#rewritten(plan, observed).filter((key) => contested.isContested(disk.id, key)),
    )
  }

  #owned(): Ownership {
    const { provider, cloud } = this.#deps
    const { disk, juniors } = this.#input
    return ownedOnDisk(this.#record, juniors, { disk, cloud, keys: provider })
  }

  /** Tags that we wrote as they are wished and that somebody changed. */
  #rewritten(plan: Plan, observed: ObservedTags | undefined): readonly string[] {
    return observed === undefined ? [] : rewrittenKeys(plan, this.#record, observed.tags)
  }

  #report(plan: Plan): Outcome {
    const { claim, disk } = this.#input
    if (isEmpty(plan.changes)) return { kind: 'in-sync' }
    const { set, remove } = plan.changes
    this.#deps.logger.info(
      { claim: claim.key, disk: disk.id, set: set.size, removed: remove.size },
      'tags would be written, but for reportOnly',
    )
    return { kind: 'reported', changes: plan.changes }
  }

  /** The record says that the disk is right already, and nothing speaks against it: no call to any cloud is due. */
  get isRecorded(): boolean {
    const record = this.#record
    if (this.#input.driftSuspected || this.#isUnwritten()) return false
    if (record === undefined) return this.#basis.kind === 'none' && this.#wish.tags.size === 0
    if (record.claimUid !== this.#input.claim.uid || record.yieldsTo !== undefined) return false
    return fulfils(record, this.#wish.tags, mayRemoveFrom(this.#input.disk.id, this.#wish, this.#deps))
  }

  #othersIntent(): Outcome | undefined {
    const intent = this.#record?.intent
    if (intent === undefined || intent.by === this.#deps.identity) return undefined
    const leftMs = intent.untilMs - this.#deps.clock.wallMs()
    return leftMs > 0 ? { kind: 'busy', by: intent.by, retryAfterMs: leftMs + recheckSlackMs } : undefined
  }

  async #observe(): Promise<ObservedTags | undefined> {
    const { provider, conflict, clock } = this.#deps
    const { claim, volume, disk, call, driftSuspected, job, juniors } = this.#input
    const needed = needsObservation({
      wish: this.#wish.tags,
      record: this.#record,
      policy: conflict,
      replacesWholeSet: provider.replacesWholeSet,
      driftSuspected:
        driftSuspected ||
        this.#basis.kind === 'foreign' ||
        this.#basis.kind === 'unreadable' ||
        this.#record?.yieldsTo !== undefined ||
        juniors.length > 0,
      freshVolume: isFreshVolume(claim, volume, clock.wallMs()),
    })
    if (!needed) return undefined
    const reading = provider.getTags(disk, call)
    job.reachedRead()
    return reading
  }

  /** The disk is right as it is; the record may not know it yet. */
  #confirm(plan: Plan): Outcome {
    const hold = this.#hold()
    if (this.#basis.kind === 'unreadable') this.#reportUnreadable(this.#basis.problem)
    else if (!this.#says(plan, hold)) this.#settle(plan, this.#input.volume, hold)
    return { kind: 'in-sync', ...this.#recheck(hold) }
  }

  async #write(plan: Plan, observed: ObservedTags | undefined): Promise<Outcome> {
    const { provider, logger, events } = this.#deps
    const { claim, disk, call, job } = this.#input
    const hold = this.#hold()
    let opened: Volume | undefined
    const beforeSend = async () => {
      if (this.#basis.kind === 'unreadable') return this.#sendByMs()
      const intent = await this.#open(plan, hold)
      opened = intent.volume
      return intent.sendByMs
    }
    try {
      const writing = provider.applyChanges(disk, plan.changes, observed, { ...call, beforeSend })
      job.reachedWrite()
      await writing
    } catch (error) {
      return this.#notWritten(error, { opened, hold, observed: observed !== undefined })
    }
    logger.info(
      { claim: claim.key, disk: disk.id, set: plan.changes.set.size, removed: plan.changes.remove.size },
      'tags written',
    )
    events.record(claim, taggedEvent(disk, plan.changes))
    this.#countRewrites(plan, observed)
    if (opened !== undefined) this.#settle(plan, opened, hold)
    else if (this.#basis.kind === 'unreadable') this.#reportUnreadable(this.#basis.problem)
    return { kind: 'tagged', changes: plan.changes, ...this.#recheck(hold) }
  }

  #countRewrites(plan: Plan, observed: ObservedTags | undefined): void {
    const { contested, events } = this.#deps
    const { claim, disk } = this.#input
    const keys = this.#rewritten(plan, observed)
    for (const key of keys) contested.rewritten(disk.id, key)
    const fought = keys.filter((key) => contested.isContested(disk.id, key))
    if (fought.length > 0) events.record(claim, contestedEvent(disk, fought))
  }

  async #open(plan: Plan, hold: Hold | undefined): Promise<{ readonly volume: Volume; readonly sendByMs: number }> {
    const { records, clock, identity, timing, answered } = this.#deps
    const { claim, volume, disk, cluster } = this.#input
    const record = this.#record ?? emptyRecord({ claim, volume, disk, cloud: this.#deps.cloud }, clock.wallMs())
    // An expired intent of somebody else may have left any of its values on the disk, so they stay ours until settled.
    const touched = uniteAll(record.intent?.touched, plan.touched)
    let sendByMs = this.#sendByMs()
    // Both deadlines count from when the call leaves: it may have waited its turn behind a thousand others.
    const intended = () => {
      sendByMs = this.#sendByMs()
      const untilMs = Math.max(clock.wallMs() + intentLifetimeMs(timing), hold?.untilMs ?? 0)
      return serializeRecord({
        ...record,
        yieldsTo: undefined,
        claimUid: claim.uid,
        intent: { by: identity, untilMs, touched },
      })
    }
    const opened = await records.writeRecord(volume, intended, cluster)
    answered.delete(volume.uid)
    return { volume: opened, sendByMs }
  }

  #sendByMs(): number {
    return this.#deps.clock.monotonicMs() + this.#deps.timing.sendWindowMs
  }

  /** What the record has to say when an answer other than success came back. */
  #notWritten(
    error: unknown,
    { opened, hold, observed }: { opened: Volume | undefined; hold: Hold | undefined; observed: boolean },
  ): Outcome {
    if (opened === undefined && !(error instanceof ProviderError)) throw error
    const { kind, code, message, retryAfterMs, outcomeUnknown } = asProviderError(error)
    if (opened !== undefined && !outcomeUnknown && hold === undefined) {
      // Refused for good: nobody else should have to wait for this intent. Anything else comes by again soon.
      if (kind === 'denied' || kind === 'invalid' || kind === 'not-found') this.#withdraw(opened)
      else this.#deps.answered.add(opened.uid)
    }
    return {
      kind: 'cloud-failure',
      reason: kind,
      code,
      message,
      retryAfterMs,
      outcomeUnknown,
      observed,
      claim: this.#input.claim,
    }
  }

  #withdraw(opened: Volume): void {
    const { claim, volume, disk } = this.#input
    const before =
      this.#record ?? emptyRecord({ claim, volume, disk, cloud: this.#deps.cloud }, this.#deps.clock.wallMs())
    this.#deps.settler.settle(claim.key, opened, serializeRecord(before))
  }

  #hold(): Hold | undefined {
    const intent = this.#record?.intent
    if (intent === undefined) return undefined
    return intent.untilMs > this.#deps.clock.wallMs() ? intent : undefined
  }

  #recheck(hold: Hold | undefined): { readonly recheckAfterMs?: number } {
    if (hold === undefined) return {}
    return { recheckAfterMs: hold.untilMs - this.#deps.clock.wallMs() + recheckSlackMs }
  }

  #settle(plan: Plan, volume: Volume, hold: Hold | undefined): void {
    const { clock, events, settler, identity, answered } = this.#deps
    const { claim, disk } = this.#input
    const intent = hold && { by: identity, untilMs: hold.untilMs, touched: uniteAll(hold.touched, plan.touched) }
    const record: AppliedRecord = {
      ...emptyRecord({ claim, volume, disk, cloud: this.#deps.cloud }, clock.wallMs()),
      settled: plan.settled,
      left: plan.left,
      intent,
    }
    answered.delete(volume.uid)
    settler.settle(claim.key, volume, serializeRecord(record))
    const skipped = skippedEvent(disk, this.#wish.problems, plan.left)
    if (skipped !== undefined) events.record(claim, skipped)
  }

  /** Whether the record already says what the plan would settle. */
  #says(plan: Plan, hold: Hold | undefined): boolean {
    const record = this.#record
    if (record === undefined) return this.#basis.kind === 'none' && plan.settled.size === 0 && plan.left.size === 0
    if (record.claimUid !== this.#input.claim.uid || (record.intent !== undefined && hold === undefined)) return false
    if (this.#isUnwritten() || record.yieldsTo !== undefined) return false
    return sameMaps(record.settled, plan.settled) && sameMaps(record.left, plan.left)
  }

  /** Where nothing is written, a label that cannot become a tag would go unmentioned. */
  reportProblems(): void {
    const { claim, disk } = this.#input
    const skipped = skippedEvent(disk, this.#wish.problems, new Map())
    if (skipped !== undefined) this.#deps.events.record(claim, skipped)
  }

  #reportUnreadable(problem: string): void {
    const { claim, volume } = this.#input
    this.#deps.logger.warn({ claim: claim.key, volume: volume.name, problem }, 'record on the volume is unreadable')
    this.#deps.events.record(claim, unreadableRecordEvent(volume, problem))
  }
}

function uniteAll(
  a: ReadonlyMap<string, TouchedTag> | undefined,
  b: ReadonlyMap<string, TouchedTag>,
): Map<string, TouchedTag> {
  const united = new Map(a)
  for (const [key, touched] of b) united.set(key, unite(united.get(key), touched))
  return united
}

function sameMaps<T extends object>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of a) if (JSON.stringify(value) !== JSON.stringify(b.get(key))) return false
  return true
}
