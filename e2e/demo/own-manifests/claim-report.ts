import { childOf, type KubeObject, stringOf } from '@k8s-cloud-tagger/shared/testing/kubernetes/objects.ts'
import { type ClaimEntry, ourTags } from '../ledger/claim-entry.ts'
import { unbound } from '../ledger/resolution-words.ts'
import type { Style } from '../view/style.ts'
import { shownMs, wrap } from '../view/text.ts'

/** What became of each claim, in full: its tags, or why it has none, and what the product told its owner. */
export function claimReport(
  entries: readonly ClaimEntry[],
  events: readonly KubeObject[],
  { width, style }: { readonly width: number; readonly style: Style },
): readonly string[] {
  const warnings = warningsByClaim(events)
  const indented = (text: string) => wrap(text, width - 4).map((line) => `    ${line}`)
  const lines: string[] = []
  for (const entry of entries) {
    lines.push(`${style.bold(entry.key)}  ${headOf(entry)}`)
    for (const [key, value] of ourTags(entry)) lines.push(`    ${key}=${value}`)
    for (const warning of warnings.get(entry.key) ?? []) {
      lines.push(...indented(warning).map((line) => style.bad(line)))
    }
  }
  return lines
}

function headOf({ disk, reason, labels, door, lastWrite }: ClaimEntry): string {
  if (reason === unbound) return 'not bound: none of your volumes fits, and its class makes none'
  if (disk === undefined) return reason ?? ''
  if (Object.keys(labels).length === 0) return `${disk}, no labels and so no tags`
  if (door === undefined) return `${disk}, no tags`
  const after = lastWrite === undefined ? '' : `, ${shownMs(lastWrite.afterMs)} after the ${lastWrite.cause}`
  return `${disk} (${door}${after})`
}

/** Events about claims, each told once. */
function warningsByClaim(events: readonly KubeObject[]): ReadonlyMap<string, readonly string[]> {
  const byClaim = new Map<string, string[]>()
  for (const event of events.filter((one) => one['type'] === 'Warning')) {
    const regarding = childOf(event, 'regarding')
    const key = `${stringOf(regarding, 'namespace') ?? ''}/${stringOf(regarding, 'name') ?? ''}`
    const text = `Event ${stringOf(event, 'reason') ?? ''}: ${stringOf(event, 'note') ?? ''}`
    const told = byClaim.get(key) ?? []
    if (!told.includes(text)) byClaim.set(key, [...told, text])
  }
  return byClaim
}
