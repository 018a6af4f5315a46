import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { cloudSettings } from '@k8s-cloud-tagger/shared/config/provider-for.ts'
import { defaultConfigPath, readConfig } from '@k8s-cloud-tagger/shared/config/read-config.ts'
import { CallGate } from '@k8s-cloud-tagger/shared/kubernetes/call-gate.ts'
import { collectionSource } from '@k8s-cloud-tagger/shared/kubernetes/collection-source.ts'
import { ClusterConnection } from '@k8s-cloud-tagger/shared/kubernetes/connection.ts'
import { inContext, kubeconfigFiles, podServiceAccount } from '@k8s-cloud-tagger/shared/kubernetes/credentials.ts'
import type { LoadKubeConfig } from '@k8s-cloud-tagger/shared/kubernetes/credentials.ts'
import { GatedApi } from '@k8s-cloud-tagger/shared/kubernetes/gated-api.ts'
import { createProvider } from '@k8s-cloud-tagger/shared/providers/registry.ts'
import { systemClock as clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import { systemRandom as random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import { version } from '@k8s-cloud-tagger/shared/runtime/version.ts'
import { parseArguments, usage } from './arguments.ts'
import type { Format, MergeOptions, OutputOptions, ReadOptions } from './arguments.ts'
import type { ClusterReport, FleetReport } from './cluster-report.ts'
import { CountedCalls } from './counted-calls.ts'
import { makeReport } from './make-report.ts'
import { mergeReports } from './merge-reports.ts'
import { Progress } from './progress.ts'
import { renderCsv } from './render/csv.ts'
import { renderHtml } from './render/html.ts'
import { renderJson } from './render/json.ts'
import { renderTable } from './render/table.ts'
import { stderrLogger } from './stderr-logger.ts'
import { summarize } from './summary.ts'
import { UsageError } from './usage-error.ts'
import { percent } from './words.ts'
import { writeWhole } from './write-file.ts'

const exitUnread = 1
const exitUsage = 2
const exitUnderCoverage = 3
const exitInterrupted = 130

/**
 * A reader that comes by beside the installation's own processes: a quarter of its budget on top, of which a report
 * takes a call for some hundred disks.
 */
const budgetShare = 0.25

const { env, stdout, stderr } = process
const progress = new Progress({ write: (text) => void stderr.write(text), isTerminal: stderr.isTTY, clock })
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
// Whoever reads us, such as `head`, may have had enough.
stdout.on('error', () => process.exit(exitInterrupted))

async function main(): Promise<number> {
  const options = parseArguments(process.argv.slice(2))
  switch (options.command) {
    case 'help':
      stdout.write(usage)
      return 0
    case 'version':
      stdout.write(`${version}\n`)
      return 0
    case 'merge':
      return write(merge(options), options)
    case 'read':
      return write(await read(options), options)
    default:
      return options satisfies never
  }
}

function merge({ files }: MergeOptions): FleetReport {
  return mergeReports(files.map((path) => ({ path, text: textOf(path) })))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path}: cannot be read (${codeOf(error)})`)
  }
}

async function read(options: ReadOptions): Promise<ClusterReport> {
  const read = readConfig(options.config ?? env['CONFIG_PATH'] ?? defaultConfigPath)
  const config = options.cluster === undefined ? read : { ...read, clusterName: options.cluster }
  const logger = stderrLogger((line) => progress.say(line), env['LOG_LEVEL'] === 'debug')
  const isMock = config.cloudProvider === 'mock'
  if (isMock && options.cloud) {
    progress.say('cloudProvider: mock keeps its tags in the memory of another process; this goes by the records alone')
  }
  const calls = new CountedCalls()
  // Only what reads is built: no writer of records, no Events, no Lease.
  const connection = new ClusterConnection({
    load: kubeconfig(options.context),
    version,
    clock,
    logger,
    onCall: () => calls.kubernetes++,
  })
  const api = new GatedApi({ transport: connection, gate: new CallGate({ clock, random }) })
  const provider = await createProvider(config.cloudProvider, {
    ...cloudSettings(config),
    clock,
    random,
    logger,
    metrics: calls,
    expected: { readsToCome: () => 0, writesToCome: () => 0 },
    budget: { profile: config.budget.profile, share: budgetShare },
    proxyEnv: env,
  })
  try {
    return await makeReport({
      config,
      provider,
      readsDisks: options.cloud && !isMock,
      namespaces: options.namespaces,
      sourceOf: (path) => collectionSource({ api, transport: connection, path }),
      calls,
      clock,
      signal: interrupted.signal,
      onProgress: (stage, done, all) => progress.at(stage, done, all),
    })
  } finally {
    progress.end()
    await provider.stop()
    await connection.close()
  }
}

function kubeconfig(context: string | undefined): LoadKubeConfig {
  const paths = (env['KUBECONFIG'] ?? '').split(process.platform === 'win32' ? ';' : ':').filter((path) => path !== '')
  const isPod = env['KUBERNETES_SERVICE_HOST'] !== undefined
  if (paths.length === 0 && isPod && context === undefined) return podServiceAccount()
  const load = kubeconfigFiles(paths.length > 0 ? paths : [join(homedir(), '.kube', 'config')])
  return context === undefined ? load : inContext(load, context)
}

async function write(report: ClusterReport | FleetReport, options: OutputOptions): Promise<number> {
  const clusters = 'clusters' in report ? report.clusters : [report]
  const format = options.format ?? formatFor(options.file)
  const text = render(format, report, clusters)
  if (options.file === undefined) await pipeline(Readable.from(text), stdout, { end: false })
  else writeWhole(options.file, text)
  return exitCodeOf(clusters, options)
}

function formatFor(file: string | undefined): Format {
  const ending = /\.(json|csv|html)$/.exec(file ?? '')?.[1]
  if (ending !== undefined) return ending as Format
  return file === undefined && !stdout.isTTY ? 'json' : 'table'
}

const widthMin = 60
const widthMax = 200

function render(
  format: Format,
  report: ClusterReport | FleetReport,
  clusters: readonly ClusterReport[],
): Iterable<string> {
  switch (format) {
    case 'json':
      return renderJson(report)
    case 'csv':
      return renderCsv(clusters)
    case 'html':
      return renderHtml(clusters)
    case 'table':
      return renderTable(clusters, { width: Math.min(Math.max(stdout.columns ?? 120, widthMin), widthMax) })
    default:
      return format satisfies never
  }
}

function exitCodeOf(clusters: readonly ClusterReport[], { failUnder }: OutputOptions): number {
  const { complete, coverage } = summarize(clusters)
  if (!complete) {
    progress.say('the report is not complete: it names what could not be read')
    return exitUnread
  }
  if (failUnder !== undefined && coverage.covered * 100 < failUnder * coverage.all) {
    progress.say(`coverage is ${percent(coverage.covered, coverage.all)}, less than ${failUnder} %`)
    return exitUnderCoverage
  }
  return 0
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

function failed(error: unknown): number {
  progress.end()
  if (error instanceof UsageError || error instanceof ConfigError) {
    const lines = error instanceof ConfigError ? error.problems : [error.message]
    stderr.write(`${lines.join('\n')}\nTry k8s-cloud-tagger report --help.\n`)
    return exitUsage
  }
  stderr.write(`cannot report: ${error instanceof Error ? error.message : String(error)}\n`)
  return exitUnread
}

/** A call that hangs need not be waited for: it only reads. */
function interruption(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  interrupted.signal.addEventListener('abort', () => {
    progress.say('interrupted; nothing was written')
    resolve(exitInterrupted)
  })
  return promise
}

process.exitCode = await Promise.race([interruption(), main().catch(failed)])
if (interrupted.signal.aborted) process.exit()
