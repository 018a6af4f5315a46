import type { ClusterReport, FleetReport } from '../cluster-report.ts'

/** A claim a line: large reports can be looked at and compared. */
export function* renderJson(report: ClusterReport | FleetReport): Iterable<string> {
  if ('clusters' in report) yield* fleetLines(report)
  else yield* clusterLines(report)
  yield '\n'
}

function* fleetLines({ clusters, ...head }: FleetReport): Iterable<string> {
  yield `${openObject(head)}"clusters":[\n`
  for (const [index, cluster] of clusters.entries()) {
    if (index > 0) yield ',\n'
    yield* clusterLines(cluster)
  }
  yield ']}'
}

function* clusterLines({ claims, ...head }: ClusterReport): Iterable<string> {
  yield `${openObject(head)}"claims":[\n`
  for (const [index, claim] of claims.entries()) yield `${index > 0 ? ',\n' : ''}${JSON.stringify(claim)}`
  yield ']}'
}

function openObject(head: object): string {
  return `${JSON.stringify(head).slice(0, -1)},\n`
}
