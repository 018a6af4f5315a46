import { asObject, stringAt } from '@k8s-cloud-tagger/shared/kubernetes/json.ts'
import type { JsonObject } from '@k8s-cloud-tagger/shared/kubernetes/json.ts'
import { claimStates, fleetSchema, reportSchema, reportVersion, tagStates } from './cluster-report.ts'
import type { ClusterReport, FleetReport } from './cluster-report.ts'
import { UsageError } from './usage-error.ts'

export interface ReportFile {
  readonly path: string
  readonly text: string
}

/** The clusters of these files, in order of their names. Throws UsageError for a file that is none of ours, or a cluster that is there twice. */
export function mergeReports(files: readonly ReportFile[]): FleetReport {
  const clusters = new Map<string, { readonly report: ClusterReport; readonly path: string }>()
  for (const { path, text } of files) {
    for (const report of reportsIn(path, text)) {
      if (report.cluster === '') {
        throw new UsageError(`${path}: names no cluster; set clusterName in its config, or make it with --cluster NAME`)
      }
      const known = clusters.get(report.cluster)
      if (known !== undefined) {
        throw new UsageError(`${path}: cluster ${JSON.stringify(report.cluster)} is in ${known.path} already`)
      }
      clusters.set(report.cluster, { report, path })
    }
  }
  const inOrder = [...clusters].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { report }]) => report)
  return { schema: fleetSchema, version: reportVersion, clusters: inOrder }
}

function reportsIn(path: string, text: string): readonly ClusterReport[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new UsageError(`${path}: is no JSON; make it with report --output json`)
  }
  const object = asObject(parsed)
  const schema = stringAt(object, 'schema')
  if (schema !== reportSchema && schema !== fleetSchema) {
    throw new UsageError(`${path}: is no report; make it with report --output json`)
  }
  const version = object?.['version']
  if (version !== reportVersion) {
    throw new UsageError(
      `${path}: has version ${JSON.stringify(version)} of the schema; this program reads version ${reportVersion}`,
    )
  }
  const reports = schema === fleetSchema ? listAt(object, 'clusters') : [object]
  for (const report of reports) checkReport(path, asObject(report))
  return reports as readonly ClusterReport[]
}

/** What every field that is counted on has to be: a file that was cut or edited fails here, by name. */
const checks: Readonly<Record<string, (value: unknown, report: JsonObject) => boolean>> = {
  schema: (value, { version }) => value === reportSchema && version === reportVersion,
  cluster: isText,
  generatedAt: isText,
  program: isText,
  cloud: isText,
  configHash: isText,
  source: isText,
  complete: (value) => typeof value === 'boolean',
  unread: (value) => isList(value, (each) => areTexts(each, ['what', 'name', 'reason'])),
  namespaces: (value) => isList(value, isText),
  requiredLabels: (value) => isList(value, isText),
  calls: (value) => areNumbers(asObject(value)?.['cloud']) && areNumbers(value, ['kubernetes']),
  wouldWrite: (value) => areNumbers(value, ['disks', 'add', 'change', 'remove', 'cloudCalls']),
}

function checkReport(path: string, report: JsonObject | undefined): void {
  const wrong = Object.entries(checks).find(([name, holds]) => report === undefined || !holds(report[name], report))
  if (wrong !== undefined) throw new UsageError(`${path}: ${wrong[0]} is missing or not what it should be`)
  const claims = report?.['claims']
  const at = Array.isArray(claims) ? claims.findIndex((claim) => !isClaimRow(asObject(claim))) : 0
  if (at >= 0) throw new UsageError(`${path}: claims[${at}] is missing or not what it should be`)
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function areTexts(object: unknown, fields: readonly string[]): boolean {
  return fields.every((field) => isText(asObject(object)?.[field]))
}

/** All of them where no field is named. */
function areNumbers(object: unknown, fields?: readonly string[]): boolean {
  const numbers = asObject(object)
  if (numbers === undefined) return false
  return (fields ?? Object.keys(numbers)).every((field) => typeof numbers[field] === 'number')
}

const knownClaimStates: ReadonlySet<unknown> = new Set(claimStates)
const knownTagStates: ReadonlySet<unknown> = new Set(tagStates)

function isClaimRow(row: JsonObject | undefined): boolean {
  return (
    areTexts(row, ['namespace', 'name']) &&
    areNumbers(row, ['otherTags']) &&
    knownClaimStates.has(row?.['state']) &&
    isList(row?.['tags'], (tag) => areTexts(tag, ['key']) && knownTagStates.has(asObject(tag)?.['state'])) &&
    isList(row?.['problems'], (problem) => areTexts(problem, ['kind', 'message'])) &&
    isList(row?.['missingLabels'], isText)
  )
}

function isList(value: unknown, holds: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(holds)
}

function listAt(object: JsonObject | undefined, key: string): readonly unknown[] {
  const list = object?.[key]
  return Array.isArray(list) ? list : []
}
