import { ArmFault } from './arm-fault.ts'
import type { Disk, DiskStore } from './disk-store.ts'

const rowsMax = 1000
/** The most that an answer may weigh. */
const answerBytesMax = 16 * 1024 * 1024

interface GraphRequest {
  readonly subscriptions: readonly string[]
  readonly query: string
  readonly top: number
  /** The id after which the page begins; '' for the first. */
  readonly after: string
}

// The part of the language that asks for disks by group, by name or by id, with their tags.
const queryShape =
  /^\s*resources\s*\|\s*where type =~ 'microsoft\.compute\/disks'\s*((?:\|\s*where [^|]+)*)\|\s*project id, tags\s*\|\s*order by id asc\s*$/i
const condition = /^(id|resourceGroup|name) (?:=~ ('[^']*')|in~ \(('[^']*'(?:, *'[^']*')*)\))$/

/** A query as Resource Graph answers it: late, a thousand rows at once, ids not in the case one knows. */
export function answerQuery(store: DiskStore, body: string): object {
  const request = parseRequest(body)
  const matches = conditionsOf(request.query)
  const subscriptions = new Set(request.subscriptions.map((id) => id.toLowerCase()))
  const rows: { readonly id: string; readonly tags: object | null }[] = []
  for (const disk of store.all()) {
    if (!subscriptions.has(disk.subscription) || !matches.every((match) => match(disk))) continue
    const tags = store.graphTags(disk)
    if (tags !== undefined)
      rows.push({ id: graphSpelling(disk), tags: tags.size === 0 ? null : Object.fromEntries(tags) })
  }
  rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  const begin = request.after === '' ? 0 : rows.findIndex(({ id }) => id > request.after)
  const data = begin === -1 ? [] : rows.slice(begin, begin + request.top)
  const last = data.at(-1)
  const isLast = last === undefined || last === rows.at(-1)
  refuseTooLarge(data)
  return {
    totalRecords: rows.length,
    count: data.length,
    data,
    facets: [],
    resultTruncated: 'false',
    ...(!isLast && { $skipToken: Buffer.from(last.id).toString('base64url') }),
  }
}

/** Resource Graph has its own casing: group names in lower case here, in upper case there. */
function graphSpelling({ id }: Disk): string {
  return id.replace(/resourceGroups\/[^/]+/i, (part) => part.toLowerCase().replace('mc_', 'MC_'))
}

function parseRequest(body: string): GraphRequest {
  const {
    options = {},
    query,
    subscriptions,
  } = JSON.parse(body) as {
    subscriptions?: string[]
    query?: string
    options?: { $top?: number; $skipToken?: string; resultFormat?: string }
  }
  const top = options.$top ?? 100
  if (query === undefined || subscriptions === undefined || subscriptions.length === 0) throw badQuery('InvalidQuery')
  if (top < 1 || top > rowsMax) throw badQuery('InvalidTop')
  const after = options.$skipToken === undefined ? '' : Buffer.from(options.$skipToken, 'base64url').toString()
  return { subscriptions, query, top, after }
}

function conditionsOf(query: string): ((disk: Disk) => boolean)[] {
  const [, conditions] = queryShape.exec(query) ?? []
  if (conditions === undefined) throw badQuery('ParserFailure')
  return conditions
    .split(/\|\s*where /)
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .map(parseCondition)
}

function parseCondition(text: string): (disk: Disk) => boolean {
  const [, field, one, several] = condition.exec(text) ?? []
  const literals = (one ?? several)?.match(/'[^']*'/g)
  if (field === undefined || literals === null || literals === undefined) throw badQuery('ParserFailure')
  const values = new Set(literals.map((literal) => literal.slice(1, -1).toLowerCase()))
  return (disk) => values.has(fieldOf(disk, field))
}

function fieldOf({ group, id }: Disk, field: string): string {
  if (field === 'resourceGroup') return group
  return field === 'id' ? id.toLowerCase() : (id.split('/').at(-1) ?? '').toLowerCase()
}

function refuseTooLarge(data: object): void {
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > answerBytesMax) throw badQuery('ResponsePayloadTooLarge')
}

/** Says little outside, and the reason inside. */
function badQuery(reason: string): ArmFault {
  return new ArmFault(400, 'BadRequest', `Please provide below info when asking for support. ${reason}`)
}
