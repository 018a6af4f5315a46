import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/load-config.ts'
import { defaultConfigPath, readConfig } from '../config/read-config.ts'
import { createLogger } from './logger.ts'
import type { Logger } from './logger.ts'
import { version } from './version.ts'

export interface ProgramContext {
  readonly config: Config
  readonly logger: Logger
  readonly env: NodeJS.ProcessEnv
  /** The pod's name, or this machine's and the process's id: unique among processes that live at once. */
  readonly identity: string
  /** The pod's namespace. */
  readonly namespace: string
}

/** What a started program answers to a request to stop. Must end within a few seconds. */
export type StopProgram = () => Promise<void>

export interface Program {
  readonly name: string
  readonly summary: string
  /** Constructs, wires and starts everything. Rejects where it cannot start. */
  readonly start: (context: ProgramContext) => Promise<StopProgram>
}

const exitBadConfig = 2
/** A pod that is told to stop has 30 s by default; whatever hangs longer than this is cut off. */
const stopLimitMs = 4500

/**
 * The frame of both programs: arguments, config, signals, exit codes. 0 after a stop that was asked for, 1 where it could
 * not start or something broke, 2 where arguments or config are wrong.
 */
export async function runProgram(program: Program, process: NodeJS.Process): Promise<void> {
  const { env } = process
  if (answeredArguments(program, process)) return
  const config = loadConfig(env, process)
  const level = env['LOG_LEVEL'] ?? config.log.level
  const logger = createLogger({ level: isLogLevel(level) ? level : config.log.level, program: program.name })

  process.on('unhandledRejection', (reason) => die(process, logger, reason))
  process.on('uncaughtException', (error) => die(process, logger, error))
  const stopRequested = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal))
  })

  const identity = env['POD_NAME'] ?? `${env['HOSTNAME'] ?? hostname()}-${process.pid}`
  const namespace = env['POD_NAMESPACE'] ?? 'default'
  let stop: StopProgram
  try {
    stop = await program.start({ config, logger, env, identity, namespace })
  } catch (error) {
    logger.error({ err: error }, 'cannot start')
    process.exit(1)
  }

  const signal = await stopRequested
  logger.info({ signal }, 'stopping')
  const limit = setTimeout(() => {
    logger.warn({ limitMs: stopLimitMs }, 'stopped before everything had ended')
    process.exit(0)
  }, stopLimitMs)
  await stop()
  clearTimeout(limit)
  logger.info({}, 'stopped')
  process.exit(0)
}

function answeredArguments({ name, summary }: Program, process: NodeJS.Process): boolean {
  try {
    const { values } = parseArgs({
      args: process.argv.slice(2),
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } },
    })
    if (values.help === true) process.stdout.write(usage(name, summary))
    else if (values.version === true) process.stdout.write(`${version}\n`)
    else return false
    return true
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\nTry k8s-cloud-tagger ${name} --help.\n`,
    )
    process.exit(exitBadConfig)
  }
}

function usage(name: string, summary: string): string {
  return `Usage: k8s-cloud-tagger ${name} [--help] [--version]

${summary}

Environment:
  CONFIG_PATH     the config file (default ${defaultConfigPath})
  KUBECONFIG      how to reach the API server from outside a cluster
  LOG_LEVEL       debug, info, warn or error; overrides log.level of the config
  POD_NAME        this process's name in records, Events and the Lease
  POD_NAMESPACE   where the Lease lives, unless the config names another place
`
}

function loadConfig(env: NodeJS.ProcessEnv, process: NodeJS.Process): Config {
  try {
    return readConfig(env['CONFIG_PATH'] ?? defaultConfigPath)
  } catch (error) {
    const lines = error instanceof ConfigError ? error.problems : [String(error)]
    process.stderr.write(`${lines.join('\n')}\n`)
    process.exit(exitBadConfig)
  }
}

function isLogLevel(level: string): level is Config['log']['level'] {
  return ['debug', 'info', 'warn', 'error'].includes(level)
}

/** A promise that nobody watches may be a worker that is gone: better a restart than a pod that only looks alive. */
function die(process: NodeJS.Process, logger: Logger, reason: unknown): void {
  logger.error({ err: reason }, 'a bug: something failed that nobody handles')
  process.exit(1)
}
