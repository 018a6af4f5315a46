import { claimStates, tagStates } from '../cluster-report.ts'
import type { ClaimRow, ClusterReport } from '../cluster-report.ts'
import type { PageData, PageRow } from './page-data.ts'

export function encodePageData(clusters: readonly ClusterReport[]): PageData {
  const texts = new Texts()
  const rows = clusters.flatMap(({ claims }, index) => claims.map((claim) => encodeRow(index, claim, texts)))
  return { clusters: clusters.map(({ cluster }) => cluster), texts: texts.all, rows }
}

/** Inside of a script element nothing may look like its end, whatever a label says; `\u003c` means the same to JSON. */
export function safeJson(data: unknown): string {
  return JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

class Texts {
  readonly all: string[] = []
  readonly #indexes = new Map<string, number>()

  indexOf(text: string | undefined): number {
    if (text === undefined) return -1
    const known = this.#indexes.get(text)
    if (known !== undefined) return known
    const index = this.all.push(text) - 1
    this.#indexes.set(text, index)
    return index
  }
}

function encodeRow(cluster: number, claim: ClaimRow, texts: Texts): PageRow {
  const indexOf = (text: string | undefined) => texts.indexOf(text)
  return [
    cluster,
    indexOf(claim.namespace),
    claim.name,
    indexOf(claim.storageClass),
    claim.volume ?? '',
    claim.disk ?? '',
    claimStates.indexOf(claim.state),
    indexOf(claim.reason),
    indexOf(claim.detail),
    claim.otherTags,
    claim.tags.flatMap(({ key, value, present, state, reason }) => [
      indexOf(key),
      indexOf(value),
      indexOf(present),
      tagStates.indexOf(state),
      indexOf(reason),
    ]),
    claim.problems.flatMap(({ kind, label, message }) => [indexOf(kind), indexOf(label), indexOf(message)]),
    claim.missingLabels.map(indexOf),
  ]
}
