import type { Claim } from '../claims/claim.ts'
import type { ClaimEvent } from '../tagger/ports.ts'
import { microTime } from './micro-time.ts'

export interface EventIdentity {
  /** The pod that reports; at most 128 characters are kept. */
  readonly instance: string
  readonly wallMs: number
  /** Tells events of one claim and one millisecond apart; lower-case letters and digits. */
  readonly suffix: string
}

const nameLengthMax = 253
const noteBytesMax = 1_024

/** An events.k8s.io/v1 Event about a claim, within what the API server accepts. */
export function eventObject(claim: Claim, event: ClaimEvent, identity: EventIdentity): object {
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: eventName(claim.name, identity.suffix), namespace: claim.namespace },
    eventTime: microTime(identity.wallMs),
    reportingController: 'k8s-cloud-tagger',
    reportingInstance: identity.instance.slice(0, 128),
    action: 'TagDisk',
    type: event.type,
    reason: event.reason,
    note: cutNote(event.note),
    regarding: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: claim.namespace,
      name: claim.name,
      uid: claim.uid,
    },
  }
}

/** A DNS subdomain: what is cut off must leave no dot or dash before the dot. */
export function eventName(claimName: string, suffix: string): string {
  return `${claimName.slice(0, nameLengthMax - 1 - suffix.length).replace(/[.-]+$/, '')}.${suffix}`
}

/** At most 1,024 bytes of UTF-8, never half a character. */
export function cutNote(note: string): string {
  const bytes = Buffer.from(note, 'utf8')
  if (bytes.length <= noteBytesMax) return note
  const ellipsis = '…'
  let end = noteBytesMax - Buffer.byteLength(ellipsis)
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + ellipsis
}
