import type { CloudName } from './clouds/bench-cloud.ts'
import type { Stage } from './stage.ts'

/** Where a figure was measured. */
export interface Place {
  readonly cloud: CloudName
  readonly claims: number
}

export type Design = { readonly atMost: number } | { readonly atLeast: number }

/** One number of a row. */
export interface Figure {
  /** Stable: measurements are kept by it. */
  readonly name: string
  /** For people, such as `cloud calls a day`. */
  readonly title: string
  readonly unit: Unit
  /** What is to be reached there; undefined where nothing was set. */
  readonly design?: (at: Place) => Design | undefined
  /** Why it falls short where it does; by cloud, or one for all. */
  readonly reason?: string | Partial<Readonly<Record<CloudName, string>>>
}

export type Unit = 'calls' | 'ms' | 's' | 'MiB' | '%' | 'disks' | 'sweeps' | 'answers'

export interface Measured {
  readonly value: number
  /** What a reader has to know, such as that the rest was extrapolated. */
  readonly note?: string
}

export type Measurements = Readonly<Record<string, Measured | number>>

/** One idea, measured on a stage of some size. */
export interface Row {
  readonly name: string
  readonly title: string
  readonly budget: 'exclusive' | 'shared' | 'none'
  readonly clouds: readonly CloudName[]
  /** The sizes that it is measured at, of 100, 1,000 and 10,000. */
  readonly claims: readonly number[]
  /** Whether the claims of the stage are to be as installed, or tagged long ago. */
  readonly startsFrom: 'untagged' | 'tagged'
  readonly figures: readonly Figure[]
  /** Resolves to the figures by name; those that could not be had are left out. */
  run(stage: Stage): Promise<Measurements>
}

export const sizes: readonly number[] = [100, 1000, 10_000]

export function atMost(value: number): () => Design {
  return () => ({ atMost: value })
}

export function meets(design: Design, value: number): boolean {
  return 'atMost' in design ? value <= design.atMost : value >= design.atLeast
}

export function reasonOf({ reason }: Figure, cloud: CloudName): string | undefined {
  return typeof reason === 'string' ? reason : reason?.[cloud]
}
