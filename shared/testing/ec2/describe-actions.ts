import { onlyIds, readFilters, tagTest, volumeTest, type TagTest } from './filters.ts'
import { isVolumeId, type Volume, type VolumeStore } from './volume-store.ts'
import { AwsFault, element, type CallParameters } from './wire.ts'
import { missingVolumes } from './write-actions.ts'

const idsPerCall = 500
const volumesPerPage = 500
const tagsPerPage = 1000
const pageMin = 5

/** The answer's content; a page is bounded, an unpaged answer is not and must be streamed. */
export function describeVolumes(
  store: VolumeStore,
  parameters: CallParameters,
  { namesMissing }: { readonly namesMissing: boolean },
): Iterable<string> {
  const ids = parameters.list('VolumeId')
  const pageSize = readPageSize(parameters, volumesPerPage)
  const filters = readFilters(parameters)
  const test = volumeTest(filters)
  const withManaged = parameters.get('IncludeManagedResources') === 'true'
  const shown = (volume: Volume) => (withManaged || !volume.managed) && test(volume, store.readTags(volume))
  if (ids.length > 0) {
    if (pageSize !== undefined || parameters.get('NextToken') !== undefined) {
      throw new AwsFault(
        'InvalidParameterCombination',
        'The parameter volumeSet cannot be used with the parameter maxResults',
      )
    }
    return volumeItems(store, byIds(store, ids, { withManaged, namesMissing }).filter(shown))
  }
  const asked = onlyIds(filters)
  const start = readToken(parameters)
  const candidates =
    asked === undefined
      ? store.after(start.sequence)
      : inOrder(store, asked).filter(({ sequence }) => sequence > start.sequence)
  return volumePage(store, filterEach(candidates, shown), pageSize ?? Infinity)
}

function byIds(
  store: VolumeStore,
  ids: readonly string[],
  { withManaged, namesMissing }: { readonly withManaged: boolean; readonly namesMissing: boolean },
): Volume[] {
  if (ids.length > idsPerCall) {
    throw new AwsFault(
      'InvalidParameterValue',
      `The request has ${ids.length} volume ids; at most ${idsPerCall} are allowed`,
    )
  }
  const malformed = ids.find((id) => !isVolumeId(id))
  if (malformed !== undefined) {
    throw new AwsFault('InvalidVolumeID.Malformed', `Invalid id: "${malformed}" (expecting "vol-...")`)
  }
  const missing: string[] = []
  const found: Volume[] = []
  for (const id of new Set(ids)) {
    const volume = store.visible(id)
    // An account that hides managed resources answers as if they were not there.
    if (volume === undefined || (volume.managed && !withManaged)) missing.push(id)
    else found.push(volume)
  }
  if (missing.length > 0) throw missingVolumes(namesMissing ? missing : [])
  return found
}

function inOrder(store: VolumeStore, ids: readonly string[]): Volume[] {
  const found = [...new Set(ids)].map((id) => store.visible(id)).filter((volume) => volume !== undefined)
  return found.toSorted((a, b) => a.sequence - b.sequence)
}

function* filterEach(volumes: Iterable<Volume>, test: (volume: Volume) => boolean): Iterable<Volume> {
  for (const volume of volumes) if (test(volume)) yield volume
}

function* volumePage(store: VolumeStore, volumes: Iterable<Volume>, pageSize: number): Iterable<string> {
  yield '<volumeSet>'
  let count = 0
  let last = 0
  let more = false
  for (const volume of volumes) {
    if (count === pageSize) {
      more = true
      break
    }
    yield volumeItem(volume, store.readTags(volume))
    count++
    last = volume.sequence
  }
  yield '</volumeSet>'
  if (more) yield element('nextToken', writeToken({ sequence: last, tag: 0 }))
}

function* volumeItems(store: VolumeStore, volumes: Iterable<Volume>): Iterable<string> {
  yield '<volumeSet>'
  for (const volume of volumes) yield volumeItem(volume, store.readTags(volume))
  yield '</volumeSet>'
}

function volumeItem(volume: Volume, tags: ReadonlyMap<string, string>): string {
  let tagItems = ''
  for (const [key, value] of tags) tagItems += `<item>${element('key', key)}${element('value', value)}</item>`
  const tagSet = tagItems === '' ? '' : `<tagSet>${tagItems}</tagSet>`
  const operator = volume.managed
    ? '<operator><managed>true</managed><principal>ec2.amazonaws.com</principal></operator>'
    : '<operator><managed>false</managed></operator>'
  return (
    `<item><volumeId>${volume.id}</volumeId><size>10</size><snapshotId/><availabilityZone>eu-west-1a</availabilityZone>` +
    `<status>in-use</status><createTime>2026-01-01T00:00:00.000Z</createTime><attachmentSet/>${tagSet}` +
    `<volumeType>gp3</volumeType><iops>3000</iops><encrypted>true</encrypted><multiAttachEnabled>false</multiAttachEnabled>` +
    `<throughput>125</throughput>${operator}</item>`
  )
}

/** One item a tag, so a page may end in the middle of a volume. */
export function describeTags(store: VolumeStore, parameters: CallParameters): Iterable<string> {
  const pageSize = readPageSize(parameters, tagsPerPage) ?? tagsPerPage
  const test = tagTest(readFilters(parameters))
  return tagPage(store, test, { start: readToken(parameters), pageSize })
}

function* tagPage(
  store: VolumeStore,
  test: TagTest,
  { start, pageSize }: { start: PageStart; pageSize: number },
): Iterable<string> {
  yield '<tagSet>'
  let count = 0
  for (const volume of store.after(start.sequence - 1)) {
    let index = -1
    for (const [key, value] of store.readTags(volume)) {
      index++
      if (volume.sequence === start.sequence && index < start.tag) continue
      if (!test({ id: volume.id, key, value })) continue
      if (count === pageSize) {
        yield `</tagSet>${element('nextToken', writeToken({ sequence: volume.sequence, tag: index }))}`
        return
      }
      yield tagItem(volume.id, key, value)
      count++
    }
  }
  yield '</tagSet>'
}

function tagItem(id: string, key: string, value: string): string {
  return `<item><resourceId>${id}</resourceId><resourceType>volume</resourceType>${element('key', key)}${element('value', value)}</item>`
}

/** Asking for more than the cap is allowed and gets the cap: nobody may assume the page size. */
function readPageSize(parameters: CallParameters, cap: number): number | undefined {
  const text = parameters.get('MaxResults')
  if (text === undefined) return undefined
  const size = Number(text)
  if (!Number.isInteger(size) || size < pageMin) {
    throw new AwsFault(
      'InvalidParameterValue',
      `Value ( ${text} ) for parameter maxResults is invalid. Expecting a value greater than or equal to ${pageMin}.`,
    )
  }
  return Math.min(size, cap)
}

/** Where the next page begins: for tags, the volume and the index of its tag. */
interface PageStart {
  readonly sequence: number
  readonly tag: number
}

function writeToken({ sequence, tag }: PageStart): string {
  return Buffer.from(`page:${sequence}:${tag}`).toString('base64url')
}

function readToken(parameters: CallParameters): PageStart {
  const token = parameters.get('NextToken')
  if (token === undefined) return { sequence: 0, tag: 0 }
  const parsed = /^page:(\d+):(\d+)$/.exec(Buffer.from(token, 'base64url').toString())
  if (parsed === null) throw new AwsFault('InvalidParameterValue', 'Unable to parse pagination token')
  return { sequence: Number(parsed[1]), tag: Number(parsed[2]) }
}
