import type { Cloud } from '@k8s-cloud-tagger/shared/claims/disk-sources.ts'

/**
 * What `--output json` writes and `--merge` reads. Within one version fields may be added; nothing is renamed, removed or
 * given another meaning. docs/report.md explains it to users.
 */
export interface ClusterReport {
  readonly schema: typeof reportSchema
  readonly version: typeof reportVersion
  /** ISO 8601: when the cluster was read. */
  readonly generatedAt: string
  /** The version of the program that made it. */
  readonly program: string
  /** Empty where the config names none; such a report cannot be merged. */
  readonly cluster: string
  readonly cloud: Cloud
  /** Tells two sets of rules apart, as the metric of a fleet does. */
  readonly configHash: string
  /** Whether the disks themselves were looked at, or only what the records on the volumes say. */
  readonly source: 'cloud' | 'records'
  /** False where something could not be read: `unread` says what, and the claims concerned are in the state `unread`. */
  readonly complete: boolean
  readonly unread: readonly Unread[]
  /** The namespaces that were asked for; empty means all. */
  readonly namespaces: readonly string[]
  /** The labels that `admission.requiredLabels` asks for. */
  readonly requiredLabels: readonly string[]
  readonly calls: {
    /** By the cloud's own name of the operation. */
    readonly cloud: Readonly<Record<string, number>>
    readonly kubernetes: number
  }
  readonly wouldWrite: WouldWrite
  readonly claims: readonly ClaimRow[]
}

export const reportSchema = 'k8s-cloud-tagger/report'
export const reportVersion = 1

/** Several of them, each cluster once. */
export interface FleetReport {
  readonly schema: typeof fleetSchema
  readonly version: typeof reportVersion
  readonly clusters: readonly ClusterReport[]
}

export const fleetSchema = 'k8s-cloud-tagger/fleet-report'

export interface Unread {
  readonly what: 'claim' | 'volume' | 'namespace' | 'volumes' | 'namespaces' | 'disks'
  /** `namespace/name`, a name, or the account scope of the disks. */
  readonly name: string
  readonly reason: string
}

export interface WouldWrite {
  readonly disks: number
  readonly add: number
  readonly change: number
  readonly remove: number
  /** Write calls to the cloud, estimated: on AWS disks with equal tags share a call, elsewhere each disk has its own. */
  readonly cloudCalls: number
}

export interface ClaimRow {
  readonly namespace: string
  readonly name: string
  readonly storageClass?: string
  readonly volume?: string
  readonly disk?: string
  readonly state: ClaimState
  /** Why it is pending, skipped or unread: a fixed word. */
  readonly reason?: string
  /** The same for people, where there is more to say. */
  readonly detail?: string
  readonly record: RecordState
  readonly tags: readonly TagRow[]
  /** Tags on the disk that are no business of ours. */
  readonly otherTags: number
  readonly problems: readonly ClaimProblem[]
  readonly missingLabels: readonly string[]
}

export const claimStates = [
  /** Its disk carries every tag that is wished. */
  'tagged',
  /** A write is due. */
  'differs',
  /** No write is due, and yet a wished tag is not there: somebody else's value is kept, or the disk is full. */
  'partial',
  /** Managed, with a disk, and no label or rule makes a tag for it. */
  'untagged',
  /** The cloud does not know the disk, or does not show it to these credentials. */
  'missing',
  /** It could not be read what the claim's disk carries or should carry. */
  'unread',
  /** There is no disk yet. */
  'pending',
  /** Not for us: another driver, out of scope, opted out, somebody else's volume. */
  'skipped',
] as const

export type ClaimState = (typeof claimStates)[number]

/** What the annotation on the volume is good for; `open` while a change is under way. */
export type RecordState = 'none' | 'ours' | 'open' | 'foreign' | 'unreadable'

export interface TagRow {
  readonly key: string
  /** What is wished; missing where nothing is. */
  readonly value?: string
  /** What is there; missing where nothing is, or where it is not known. */
  readonly present?: string
  readonly state: TagState
  readonly reason?: TagReason
}

export const tagStates = [
  'in-place',
  'add',
  'change',
  'remove',
  /** Ours and no longer wished, and it is not taken off now. */
  'stays',
  /** Wished and not written. */
  'blocked',
  /** Wished, and the disk could not be read. */
  'unknown',
] as const

export type TagState = (typeof tagStates)[number]

export type TagReason =
  /** `tags.onRemoval: keep`. */
  | 'removal-off'
  /** More disks than the brake allows would lose the tag at once. */
  | 'brake'
  /** An annotation with tags cannot be read, so nothing is removed on its account. */
  | 'unreadable-tags'
  /** The key was on the disk before us. */
  | 'there-before'
  /** `tags.onConflict: preserve`, and somebody else's value stands there. */
  | 'kept-for-others'
  /** The disk holds as many tags as it can. */
  | 'disk-full'

export interface ClaimProblem {
  /** As in Events and admission warnings, such as `changed-value`; or `unreadable-record`, `foreign-record`. */
  readonly kind: string
  readonly label?: string
  readonly message: string
}

/** Claims that the rules are about and that have a disk: what coverage is a part of. */
export function isManagedState(state: ClaimState): boolean {
  return state !== 'pending' && state !== 'skipped'
}
