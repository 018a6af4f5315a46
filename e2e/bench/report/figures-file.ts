import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cloudNames } from '../clouds/bench-cloud.ts'
import type { Row } from '../row.ts'
import { entryOf, sorted, type FiguresFile, type RawEntry } from './entry.ts'

/** What was measured before, judged by the definitions of today; new measurements take the place of old ones. */
export function mergeFigures(
  file: string,
  {
    machine,
    rows,
    measured,
  }: { readonly machine: string; readonly rows: readonly Row[]; readonly measured: readonly RawEntry[] },
): FiguresFile {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as FiguresFile).entries : []
  const byPlace = new Map<string, RawEntry>()
  for (const entry of [...before, ...measured]) byPlace.set(placeOf(entry), entry)
  const entries = [...byPlace.values()].flatMap((raw) => entryOf(raw, rows) ?? [])
  return { machine, entries: sorted(entries, rows, cloudNames) }
}

export function writeFigures(file: string, figures: FiguresFile): void {
  const lines = figures.entries.map((entry) => `    ${JSON.stringify(entry)}`)
  writeFileSync(
    file,
    `{\n  "machine": ${JSON.stringify(figures.machine)},\n  "entries": [\n${lines.join(',\n')}\n  ]\n}\n`,
  )
}

function placeOf({ row, figure, cloud, claims }: RawEntry): string {
  return `${row} ${figure} ${cloud} ${claims}`
}
