import type { ClaimRow, ClusterReport, TagRow } from '../cluster-report.ts'

interface Row {
  readonly cluster: string
  readonly claim: ClaimRow
  readonly tag: TagRow | undefined
}

/** A row for each claim and tag; a claim without tags has one row (RFC 4180, with a header). */
export function* renderCsv(clusters: readonly ClusterReport[]): Iterable<string> {
  yield line(columns.map(([name]) => name))
  for (const { cluster, claims } of clusters) {
    for (const claim of claims) {
      const rows = claim.tags.length === 0 ? [undefined] : claim.tags
      for (const tag of rows) yield line(columns.map(([, value]) => value({ cluster, claim, tag }) ?? ''))
    }
  }
}

const columns: readonly (readonly [name: string, value: (row: Row) => string | undefined])[] = [
  ['cluster', ({ cluster }) => cluster],
  ['namespace', ({ claim }) => claim.namespace],
  ['claim', ({ claim }) => claim.name],
  ['storage_class', ({ claim }) => claim.storageClass],
  ['volume', ({ claim }) => claim.volume],
  ['disk', ({ claim }) => claim.disk],
  ['claim_state', ({ claim }) => claim.state],
  ['claim_reason', ({ claim }) => claim.reason],
  ['tag', ({ tag }) => tag?.key],
  ['wanted', ({ tag }) => tag?.value],
  ['present', ({ tag }) => tag?.present],
  ['tag_state', ({ tag }) => tag?.state],
  ['tag_reason', ({ tag }) => tag?.reason],
  ['missing_labels', ({ claim }) => claim.missingLabels.join(' ')],
  ['problems', ({ claim }) => claim.problems.map(problemText).join('; ')],
]

function problemText({ kind, label, message }: ClaimRow['problems'][number]): string {
  return label === undefined ? `${kind}: ${message}` : `${kind}: ${label}: ${message}`
}

function line(values: readonly string[]): string {
  return `${values.map(cell).join(',')}\r\n`
}

/**
 * What a spreadsheet would take for a formula gets an apostrophe before it, as OWASP advises: tag values are written by
 * anybody who may write to a claim or a disk. Full-width forms count, and so does what hides behind blanks.
 */
const looksLikeFormula = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n]/u

function cell(value: string): string {
  const safe = looksLikeFormula.test(value) ? `'${value}` : value
  return /[",;\r\n\t']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
