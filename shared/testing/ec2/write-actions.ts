import { isVolumeId, type Volume, type VolumeStore } from './volume-store.ts'
import { AwsFault, type CallParameters } from './wire.ts'

const idsPerCall = 1000
const tagsPerCall = 1000
export const userTagsPerVolume = 50
const keyLengthMax = 128
const valueLengthMax = 256

/** What a write needs to know beside the volumes. */
export interface WriteRules {
  readonly denied: ReadonlySet<string>
  readonly arnPrefix: string
  /** Whether UnauthorizedOperation names a volume. */
  readonly namesDenied: boolean
  /** Whether InvalidVolume.NotFound names the volumes. */
  readonly namesMissing: boolean
}

/** Takes effect when called. Split from the checks, so that a late write can be judged at once and land afterwards. */
export type Effect = () => void

/** All or nothing: whatever is wrong with one id or one tag, nothing is tagged. */
export function createTags(store: VolumeStore, parameters: CallParameters, rules: WriteRules): Effect {
  const volumes = targetVolumes(store, parameters, rules)
  const tags = new Map<string, string>()
  for (const members of parameters.structures('Tag')) {
    const key = members.get('Key') ?? ''
    const value = members.get('Value') ?? ''
    checkTag(key, value)
    if (tags.has(key)) throw new AwsFault('InvalidParameterValue', `Duplicate tag key '${key}' specified.`)
    tags.set(key, value)
  }
  if (tags.size === 0) throw new AwsFault('MissingParameter', 'The request must contain the parameter Tag')
  if (volumes.some((volume) => userTagCount(merged(volume, tags)) > userTagsPerVolume)) {
    throw new AwsFault('TagLimitExceeded', 'The maximum number of Tags for a resource has been reached.')
  }
  return () => {
    for (const volume of volumes) store.write(volume, merged(volume, tags))
  }
}

/** Value absent: deletes regardless. Value empty: only an empty value. No tag at all: every user tag. */
export function deleteTags(store: VolumeStore, parameters: CallParameters, rules: WriteRules): Effect {
  const volumes = targetVolumes(store, parameters, rules)
  const conditions = parameters
    .structures('Tag')
    .map((members) => ({ key: members.get('Key'), value: members.get('Value') }))
  if (conditions.length > tagsPerCall) {
    throw new AwsFault(
      'InvalidParameterValue',
      `The request has ${conditions.length} tags; at most ${tagsPerCall} are allowed`,
    )
  }
  for (const { key } of conditions) {
    if (key === undefined || key === '') throw new AwsFault('InvalidParameterValue', 'Tag key cannot be empty')
    if (isSystemKey(key)) throw reservedPrefix()
  }
  return () => {
    for (const volume of volumes) store.write(volume, reduced(volume, conditions))
  }
}

function reduced(
  { tags }: Volume,
  conditions: readonly { readonly key: string | undefined; readonly value: string | undefined }[],
): Map<string, string> {
  if (conditions.length === 0) return new Map([...tags].filter(([key]) => isSystemKey(key)))
  const left = new Map(tags)
  for (const { key, value } of conditions) {
    if (key !== undefined && (value === undefined || left.get(key) === value)) left.delete(key)
  }
  return left
}

function targetVolumes(store: VolumeStore, parameters: CallParameters, rules: WriteRules): Volume[] {
  const ids = [...new Set(parameters.list('ResourceId'))]
  if (ids.length === 0) throw new AwsFault('MissingParameter', 'The request must contain the parameter resourceIdSet')
  if (ids.length > idsPerCall) {
    throw new AwsFault(
      'ResourceCountExceeded',
      `You have exceeded the number of resources allowed in the request (${idsPerCall}).`,
    )
  }
  const malformed = ids.find((id) => !isVolumeId(id))
  if (malformed !== undefined) throw new AwsFault('InvalidID', `The ID '${malformed}' is not valid`)
  const denied = ids.find((id) => rules.denied.has(id))
  if (denied !== undefined) throw notAuthorized(rules.namesDenied ? `${rules.arnPrefix}${denied}` : undefined)
  const missing: string[] = []
  const found: Volume[] = []
  for (const id of ids) {
    const volume = store.visible(id)
    if (volume === undefined) missing.push(id)
    else found.push(volume)
  }
  if (missing.length > 0) throw missingVolumes(rules.namesMissing ? missing : [])
  return found
}

export function missingVolumes(ids: readonly string[]): AwsFault {
  const subject = ids.length === 0 ? 'A volume' : `The volume${ids.length > 1 ? 's' : ''} '${ids.join(', ')}'`
  return new AwsFault('InvalidVolume.NotFound', `${subject} ${ids.length > 1 ? 'do' : 'does'} not exist.`)
}

function notAuthorized(arn: string | undefined): AwsFault {
  const resource = arn === undefined ? '' : ` on resource: ${arn}`
  return new AwsFault(
    'UnauthorizedOperation',
    `You are not authorized to perform this operation${resource}. Encoded authorization failure message: c2VjcmV0`,
    403,
  )
}

function checkTag(key: string, value: string): void {
  if (key === '') throw new AwsFault('InvalidParameterValue', 'Tag key cannot be empty')
  if (isSystemKey(key) || isSystemKey(value)) throw reservedPrefix()
  if (Array.from(key).length > keyLengthMax) {
    throw new AwsFault('InvalidParameterValue', `Tag key exceeds the maximum length of ${keyLengthMax} characters`)
  }
  if (Array.from(value).length > valueLengthMax) {
    throw new AwsFault('InvalidParameterValue', `Tag value exceeds the maximum length of ${valueLengthMax} characters`)
  }
  if (/[\p{Cc}\uFFFE\uFFFF]/u.test(key + value)) {
    throw new AwsFault('InvalidParameterValue', 'Tag contains invalid characters')
  }
}

function isSystemKey(key: string): boolean {
  return key.toLowerCase().startsWith('aws:')
}

function reservedPrefix(): AwsFault {
  return new AwsFault('InvalidParameterValue', "Tag keys and values starting with 'aws:' are reserved for internal use")
}

function merged({ tags }: Volume, added: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...tags, ...added])
}

/** AWS's own tags do not count towards the limit. */
export function userTagCount(tags: ReadonlyMap<string, string>): number {
  let count = 0
  for (const key of tags.keys()) if (!isSystemKey(key)) count++
  return count
}
