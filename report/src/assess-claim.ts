import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { DiskRef } from '@k8s-cloud-tagger/shared/claims/disk.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import type { Volume } from '@k8s-cloud-tagger/shared/claims/volume.ts'
import type { AppliedRecord } from '@k8s-cloud-tagger/shared/plan/applied-record.ts'
import type { Ownership } from '@k8s-cloud-tagger/shared/plan/ownership.ts'
import { planChanges } from '@k8s-cloud-tagger/shared/plan/plan.ts'
import type { Plan } from '@k8s-cloud-tagger/shared/plan/plan.ts'
import type { TagChanges } from '@k8s-cloud-tagger/shared/plan/tag-changes.ts'
import { ownedOnDisk, ownRecord, recordBasis } from '@k8s-cloud-tagger/shared/tagger/record-basis.ts'
import type { RecordBasis } from '@k8s-cloud-tagger/shared/tagger/record-basis.ts'
import { mayRemoveFrom, wishOf } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import type { TaggingRules } from '@k8s-cloud-tagger/shared/tagger/tagging-rules.ts'
import type { TagSet } from '@k8s-cloud-tagger/shared/tags/tag-set.ts'
import type { Wish } from '@k8s-cloud-tagger/shared/tags/wish.ts'
import type { ClaimProblem, ClaimRow, ClaimState, RecordState, TagReason, TagRow } from './cluster-report.ts'

/** A claim that has a disk and that the rules are about. */
export interface ManagedClaim {
  readonly claim: Claim
  readonly namespace: NamespaceInfo | undefined
  readonly volume: Volume
  readonly disk: DiskRef
  /** Younger volumes of the same disk. */
  readonly juniors: readonly Volume[]
}

export type Assessment = Pick<ClaimRow, 'state' | 'record' | 'tags' | 'otherTags' | 'problems'> & {
  readonly changes: TagChanges
}

/**
 * What the path would do about this disk, by the path's own plan; pure, and nothing is written. Without `observed` it is
 * what the record says.
 */
export function assessClaim(managed: ManagedClaim, observed: TagSet | undefined, rules: TaggingRules): Assessment {
  const { volume, disk, juniors } = managed
  const { provider, cloud, conflict, adopt } = rules
  const basis = recordBasis(volume, disk, cloud)
  const record = ownRecord(basis)
  const wish = wishOf(managed, rules)
  const owned = ownedOnDisk(record, juniors, { disk, cloud, keys: provider })
  const plan = planChanges({
    wish: observed === undefined ? withoutLeft(wish.tags, record) : wish.tags,
    owned,
    observed,
    policy: conflict,
    mayRemove: mayRemoveFrom(disk.id, wish, rules),
    adopt,
    limit: provider.tagsPerDisk,
  })
  const view: View = { wish, owned, observed, plan, record, rules }
  const tags = [...wishedTags(view), ...unwishedTags(view)]
  return {
    state: stateOf(plan, tags),
    record: recordState(basis),
    tags,
    otherTags: observed === undefined ? 0 : othersIn(observed, wish, owned),
    problems: problemsOf(wish, basis),
    changes: plan.changes,
  }
}

interface View {
  readonly wish: Wish
  readonly owned: Ownership
  readonly observed: TagSet | undefined
  readonly plan: Plan
  readonly record: AppliedRecord | undefined
  readonly rules: TaggingRules
}

/** What a record says was left out on purpose is left out again: only a look at the disk could tell otherwise. */
function withoutLeft(wish: TagSet, record: AppliedRecord | undefined): TagSet {
  if (record === undefined || record.left.size === 0) return wish
  return new Map([...wish].filter(([key, value]) => record.left.get(key)?.value !== value))
}

function* wishedTags({ wish, owned, observed, plan, record }: View): Iterable<TagRow> {
  for (const [key, value] of wish.tags) {
    const left = plan.left.get(key) ?? (plan.settled.has(key) ? undefined : record?.left.get(key))
    const present = observed === undefined ? owned.get(key)?.values.at(-1) : observed.get(key)
    const row = { key, value, ...(present !== undefined && { present }) }
    if (left !== undefined) {
      yield { ...row, state: 'blocked', reason: left.reason === 'kept' ? 'kept-for-others' : 'disk-full' }
    } else if (!plan.changes.set.has(key)) {
      yield { ...row, state: 'in-place' }
    } else {
      yield { ...row, state: present === undefined ? 'add' : 'change' }
    }
  }
}

function* unwishedTags(view: View): Iterable<TagRow> {
  const { wish, owned, observed, plan } = view
  for (const [key, ours] of owned) {
    if (wish.tags.has(key)) continue
    const present = observed === undefined ? ours.values.at(-1) : observed.get(key)
    // Gone already, or somebody else's value by now: no business of ours.
    if (present === undefined || !ours.values.includes(present)) continue
    if (plan.changes.remove.has(key)) yield { key, present, state: 'remove' }
    else yield { key, present, state: 'stays', reason: ours.before ? 'there-before' : heldBy(view) }
  }
}

function heldBy({ wish, rules }: View): TagReason {
  if (!rules.removes) return 'removal-off'
  return wish.complete ? 'brake' : 'unreadable-tags'
}

function stateOf({ changes }: Plan, tags: readonly TagRow[]): ClaimState {
  if (changes.set.size > 0 || changes.remove.size > 0) return 'differs'
  if (tags.some(({ state }) => state === 'blocked')) return 'partial'
  return tags.some(({ state }) => state === 'in-place') ? 'tagged' : 'untagged'
}

function recordState(basis: RecordBasis): RecordState {
  if (basis.kind !== 'record') return basis.kind
  return basis.record.intent === undefined ? 'ours' : 'open'
}

function othersIn(observed: TagSet, wish: Wish, owned: Ownership): number {
  let count = 0
  for (const key of observed.keys()) if (!wish.tags.has(key) && !owned.has(key)) count++
  return count
}

function problemsOf(wish: Wish, basis: RecordBasis): readonly ClaimProblem[] {
  const problems: ClaimProblem[] = wish.problems.map(({ kind, label, message }) => ({ kind, label, message }))
  if (basis.kind === 'unreadable') {
    const message = `the record on the volume cannot be read (${basis.problem}); no tag is removed`
    problems.push({ kind: 'unreadable-record', message })
  }
  if (basis.kind === 'foreign') {
    const message = 'the record on the volume is of another volume, disk or cloud; no tag is removed on its account'
    problems.push({ kind: 'foreign-record', message })
  }
  return problems
}
