import { pino } from 'pino'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error'

/** Messages are constant sentences; whatever varies stands in the fields, so that logs can be grouped. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Logger
}

/** JSON lines on standard output, with the level as a word and the time in ISO 8601. */
export function createLogger(options: { level: LogLevel; program: string }): Logger {
  return pino({
    level: options.level,
    base: { program: options.program },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
  })
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
