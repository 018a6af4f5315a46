import { type ClaimEntry, ourTags } from '../ledger/claim-entry.ts'
import { unbound } from '../ledger/resolution-words.ts'
import type { Style } from './style.ts'
import { counted, cut, cutMiddle, fit, listWithin, shownMs } from './text.ts'

interface Row {
  readonly claim: string
  readonly disk: string
  readonly door: string
  readonly after: string
  /** Tags, or in their place why there are none. */
  readonly tags: readonly string[]
  readonly note: string
}

const gap = '  '
const doorWidth = 'reconciler'.length
const afterWidth = 'label 999 ms'.length
const diskWidthMax = 'vol-0123456789abcdef0'.length
const diskWidthMin = 'vol-01234567'.length
const claimWidthMax = 34
const claimWidthMin = 14

/**
 * The table of claims: a header and a line for each claim or group, of at most `width` characters, and of at most
 * `linesMax` lines.
 */
export function claimTable(
  entries: readonly ClaimEntry[],
  { width, linesMax, style }: { readonly width: number; readonly linesMax: number; readonly style: Style },
): readonly string[] {
  const rows = toRows(entries)
  const spare = Math.max(0, width - (doorWidth + afterWidth + claimWidthMin + diskWidthMin + 4 * gap.length) - 24)
  const claimWidth = clamp(
    longest(rows.map(({ claim }) => claim)),
    claimWidthMin,
    claimWidthMin + Math.floor(spare / 2),
    claimWidthMax,
  )
  const diskWidth = clamp(
    longest(rows.map(({ disk }) => disk)),
    diskWidthMin,
    diskWidthMin + spare - (claimWidth - claimWidthMin),
    diskWidthMax,
  )
  const tagsWidth = Math.max(10, width - claimWidth - diskWidth - doorWidth - afterWidth - 4 * gap.length)
  const line = (...cells: readonly string[]) => cells.join(gap).trimEnd()
  const lines = rows.map((row) => {
    const place = [fit(cutMiddle(row.claim, claimWidth), claimWidth), fit(cutMiddle(row.disk, diskWidth), diskWidth)]
    const tags = row.note === '' ? listWithin(row.tags, tagsWidth) : ''
    if (tags !== '') return cut(line(...place, fit(row.door, doorWidth), fit(row.after, afterWidth), tags), width)
    // A reason takes the room of all that is not there.
    const noteWidth = width - claimWidth - diskWidth - 2 * gap.length
    return line(...place, style.dim(fit(row.note, noteWidth).trimEnd()))
  })
  const header = line(
    fit('CLAIM', claimWidth),
    fit('DISK', diskWidth),
    fit('DOOR', doorWidth),
    fit('AFTER', afterWidth),
    'TAGS FROM LABELS',
  )
  return [style.bold(cut(header, width)), ...clipped(lines, linesMax - 1, style)]
}

function clipped(lines: readonly string[], linesMax: number, style: Style): readonly string[] {
  if (lines.length <= linesMax) return lines
  const shown = Math.max(0, linesMax - 1)
  return [...lines.slice(lines.length - shown), style.dim(`… and ${lines.length - shown} claims above these`)]
}

function toRows(entries: readonly ClaimEntry[]): readonly Row[] {
  const rows: Row[] = []
  const grouped = new Set<string>()
  for (const entry of entries) {
    if (entry.group === undefined) rows.push(singleRow(entry))
    else if (!grouped.has(entry.group)) {
      grouped.add(entry.group)
      rows.push(
        groupRow(
          entry.group,
          entries.filter(({ group }) => group === entry.group),
        ),
      )
    }
  }
  return rows
}

function singleRow(entry: ClaimEntry): Row {
  // What has just changed comes first, since on a narrow screen only the first ones are shown.
  const isNew = ([key]: readonly [string, string]) => entry.changedKeys.has(key)
  const inOrder = ourTags(entry).toSorted((a, b) => Number(isNew(b)) - Number(isNew(a)))
  const tags = inOrder.map(([key, value]) => `${key}=${value}`)
  return {
    claim: entry.key,
    disk: entry.disk ?? '–',
    door: entry.door ?? '–',
    after:
      entry.lastWrite === undefined ? '–' : `${entry.lastWrite.cause.padEnd(5)} ${shownMs(entry.lastWrite.afterMs)}`,
    tags,
    note: noteOf(entry, tags.length),
  }
}

function noteOf({ reason, disk, labels }: ClaimEntry, tagCount: number): string {
  if (reason !== undefined) return reason
  if (disk === undefined) return unbound
  if (tagCount > 0) return ''
  return Object.keys(labels).length === 0 ? 'it has no labels' : 'bound, not tagged yet'
}

function groupRow(group: string, entries: readonly ClaimEntry[]): Row {
  const [first] = entries
  const tagged = entries.filter((entry) => ourTags(entry).length > 0)
  const written = entries.flatMap(({ lastWrite }) => (lastWrite === undefined ? [] : [lastWrite.afterMs]))
  const doors = new Set(entries.flatMap(({ door }) => (door === undefined ? [] : [door.replace(/-\d+$/u, '')])))
  return {
    claim: group,
    disk: counted(entries.length, 'disk'),
    door: [...doors].join(', '),
    after: written.length === 0 ? '–' : `bind  ${shownMs(Math.max(...written))}`,
    tags: first === undefined ? [] : Object.entries(first.labels).map(([key, value]) => `${key}=${value}`),
    note: tagged.length === entries.length ? '' : `${tagged.length} of ${entries.length} tagged`,
  }
}

function longest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(({ length }) => length))
}

function clamp(value: number, min: number, ...maxes: readonly number[]): number {
  return Math.max(min, Math.min(value, ...maxes))
}
