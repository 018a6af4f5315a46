import type { CloudName } from '../clouds/bench-cloud.ts'
import { meets, reasonOf, type Design, type Figure, type Row, type Unit } from '../row.ts'

/** One measured figure as `figures.json` keeps it: everything that a reader needs, without this program. */
export interface Entry {
  readonly row: string
  readonly figure: string
  readonly cloud: CloudName
  readonly claims: number
  readonly title: string
  readonly unit: Unit
  readonly budget: Row['budget']
  readonly value: number
  readonly design?: Design
  /** Undefined where no figure was set. */
  readonly reached?: boolean
  /** Why it falls short. */
  readonly reason?: string
  readonly note?: string
  /** `2026-01-31` */
  readonly measuredOn: string
}

export interface FiguresFile {
  readonly machine: string
  readonly entries: readonly Entry[]
}

export type RawEntry = Pick<Entry, 'row' | 'figure' | 'cloud' | 'claims' | 'value' | 'note' | 'measuredOn'>

/** What the definitions of today say about a measurement; undefined for one that no row makes any more. */
export function entryOf(raw: RawEntry, rows: readonly Row[]): Entry | undefined {
  const row = rows.find(({ name }) => name === raw.row)
  const figure = row?.figures.find(({ name }) => name === raw.figure)
  if (row === undefined || figure === undefined) return undefined
  if (!row.claims.includes(raw.claims) || !row.clouds.includes(raw.cloud)) return undefined
  const { cloud, claims, value, note, measuredOn } = raw
  return {
    row: row.name,
    figure: figure.name,
    cloud,
    claims,
    title: `${row.title}: ${figure.title}`,
    unit: figure.unit,
    budget: row.budget,
    value: rounded(value),
    ...judged(figure, { cloud, claims, value: rounded(value) }),
    ...(note !== undefined && { note }),
    measuredOn,
  }
}

function judged(
  figure: Figure,
  { cloud, claims, value }: Pick<Entry, 'cloud' | 'claims' | 'value'>,
): Pick<Entry, 'design' | 'reached' | 'reason'> {
  const design = figure.design?.({ cloud, claims })
  if (design === undefined) return {}
  const reached = meets(design, value)
  const reason = reached ? undefined : (reasonOf(figure, cloud) ?? 'not looked into yet')
  return { design, reached, ...(reason !== undefined && { reason }) }
}

/** Three digits say all that one run can. */
function rounded(value: number): number {
  if (!Number.isFinite(value)) return value
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
}

/** In the order of the rows, then by cloud and size. */
export function sorted(
  entries: readonly Entry[],
  rows: readonly Row[],
  clouds: readonly CloudName[],
): readonly Entry[] {
  const places = rows.flatMap(({ name, figures }) => figures.map((figure) => `${name} ${figure.name}`))
  const rank = ({ row, figure, cloud, claims }: Entry) =>
    places.indexOf(`${row} ${figure}`) * 1e6 + claims * 10 + clouds.indexOf(cloud)
  return entries.toSorted((a, b) => rank(a) - rank(b))
}
