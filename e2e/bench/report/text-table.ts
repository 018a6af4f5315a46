import type { Entry } from './entry.ts'
import { count, designed, quantity } from './words.ts'

/** For a terminal: one line a figure, the design's beside it, and under the table what falls short. */
export function textTable(entries: readonly Entry[]): string {
  const cells = entries.map((entry) => [
    entry.cloud,
    count(entry.claims),
    entry.row,
    entry.figure,
    entry.budget,
    designed(entry.design, entry.unit),
    quantity(entry.value, entry.unit),
    entry.reached === undefined ? '' : entry.reached ? 'ok' : 'SHORT',
  ])
  const table = [['cloud', 'claims', 'row', 'figure', 'budget', 'design', 'measured', ''], ...cells]
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  const lines = table.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const remarks = entries.flatMap((entry) => remarksOf(entry))
  return [...lines, ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n')
}

function remarksOf({ cloud, claims, row, figure, reason, note }: Entry): readonly string[] {
  const place = `${cloud} ${count(claims)} ${row} ${figure}`
  return [
    ...(reason === undefined ? [] : [`${place} falls short: ${reason}`]),
    ...(note === undefined ? [] : [`${place}: ${note}`]),
  ]
}
