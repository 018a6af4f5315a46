import { parseArgs } from 'node:util'
import { defaultConfigPath } from '@k8s-cloud-tagger/shared/config/read-config.ts'
import { UsageError } from './usage-error.ts'

export const formats = ['table', 'json', 'csv', 'html'] as const
export type Format = (typeof formats)[number]

export interface OutputOptions {
  /** Undefined where it was not named: then where the output goes decides. */
  readonly format: Format | undefined
  /** Undefined means standard output. */
  readonly file: string | undefined
  /** Percent of coverage below which the program fails. */
  readonly failUnder: number | undefined
}

export interface ReadOptions extends OutputOptions {
  readonly command: 'read'
  /** Overrides CONFIG_PATH. */
  readonly config: string | undefined
  /** Of the kubeconfig, where it is not to be the current one. */
  readonly context: string | undefined
  /** Overrides `clusterName` of the config. */
  readonly cluster: string | undefined
  readonly cloud: boolean
  readonly namespaces: readonly string[]
}

export interface MergeOptions extends OutputOptions {
  readonly command: 'merge'
  readonly files: readonly string[]
}

export type Arguments = { readonly command: 'help' | 'version' } | ReadOptions | MergeOptions

/** Throws UsageError. */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parsed(args)
  if (values.help === true) return { command: 'help' }
  if (values.version === true) return { command: 'version' }
  const output = {
    format: formatOf(values.output),
    file: values.file,
    failUnder: percentOf(values['fail-under']),
  }
  if (values.merge === true) {
    const reading = (['config', 'context', 'cluster', 'namespace', 'no-cloud'] as const).find(
      (name) => values[name] !== undefined,
    )
    if (reading !== undefined) throw new UsageError(`--${reading} does not go with --merge, which reads reports only`)
    if (positionals.length === 0) throw new UsageError('--merge needs the reports to merge: --merge a.json b.json')
    return { command: 'merge', files: positionals, ...output }
  }
  if (positionals.length > 0)
    throw new UsageError(`${positionals.join(' ')} is no option; to merge reports add --merge`)
  return {
    command: 'read',
    config: values.config,
    context: values.context,
    cluster: values.cluster,
    cloud: values['no-cloud'] !== true,
    namespaces: [...new Set((values.namespace ?? []).flatMap((list) => list.split(',')))].filter((name) => name !== ''),
    ...output,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        output: { type: 'string', short: 'o' },
        file: { type: 'string', short: 'f' },
        config: { type: 'string' },
        context: { type: 'string' },
        cluster: { type: 'string' },
        namespace: { type: 'string', short: 'n', multiple: true },
        'no-cloud': { type: 'boolean' },
        'fail-under': { type: 'string' },
        merge: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function formatOf(text: string | undefined): Format | undefined {
  if (text === undefined) return undefined
  const found = formats.find((format) => format === text)
  if (found === undefined) throw new UsageError(`--output ${text}: must be one of ${formats.join(', ')}`)
  return found
}

function percentOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const percent = Number(text.replace(/%$/, ''))
  if (text.trim() === '' || !(percent >= 0 && percent <= 100)) {
    throw new UsageError(`--fail-under ${text}: must be a number from 0 to 100`)
  }
  return percent
}

export const usage = `Usage: k8s-cloud-tagger report [options]
       k8s-cloud-tagger report --merge a.json b.json … [options]

Says for each claim what would be added, changed, removed, kept or left alone on its disk, and why. Reads the cluster
and the disks' tags; writes nothing, neither to the cluster nor to the cloud.

Options:
  -o, --output FORMAT    table, json, csv or html; default by the ending of --file, else table on a terminal and json
                         where the output goes elsewhere
  -f, --file PATH        write there instead of to standard output
  -n, --namespace NAME   only this namespace; may be given several times, or as a list with commas
      --no-cloud         make no cloud call: what the records on the volumes say
      --cluster NAME     the cluster's name in the report, instead of clusterName of the config
      --config PATH      the config file, instead of CONFIG_PATH
      --context NAME     this context of the kubeconfig
      --merge FILE…      one report of several that were made with --output json
      --fail-under N     exit with 3 where less than N percent are covered
      --help, --version

Environment:
  CONFIG_PATH     the config file (default ${defaultConfigPath})
  KUBECONFIG      how to reach the API server; default the pod's service account, else ~/.kube/config
  LOG_LEVEL       debug shows more on standard error

Exit codes: 0 done · 1 something could not be read, and the report says what · 2 wrong usage or config ·
            3 less coverage than --fail-under · 130 interrupted
`
