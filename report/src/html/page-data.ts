/**
 * What the page is given: each text once, rows as lists of numbers, so that ten thousand claims are a few megabytes and
 * are there at once. Only the program that wrote the page reads it, so it has no version.
 */
export interface PageData {
  readonly clusters: readonly string[]
  readonly texts: readonly string[]
  readonly rows: readonly PageRow[]
}

/** Indexes into `texts`, -1 for what is missing. */
export type PageRow = readonly [
  cluster: number,
  namespace: number,
  name: string,
  storageClass: number,
  volume: string,
  disk: string,
  /** Index into `claimStates`. */
  state: number,
  reason: number,
  detail: number,
  otherTags: number,
  /** Five numbers a tag: key, value, present, index into `tagStates`, reason. */
  tags: readonly number[],
  /** Three numbers a problem: kind, label, message. */
  problems: readonly number[],
  missingLabels: readonly number[],
]
