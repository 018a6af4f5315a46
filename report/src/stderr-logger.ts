import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'

/** Standard output belongs to the report, so what the shared parts have to say goes to standard error, as plain lines. */
export function stderrLogger(say: (line: string) => void, isVerbose: boolean): Logger {
  const line = (level: string) => (fields: object, message: string) =>
    say(`${level}: ${message} ${shown(fields)}`.trim())
  const silent = () => {}
  const logger: Logger = {
    debug: isVerbose ? line('debug') : silent,
    info: isVerbose ? line('info') : silent,
    warn: line('warning'),
    error: line('error'),
    child: () => logger,
  }
  return logger
}

function shown(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${value instanceof Error ? value.message : JSON.stringify(value)}`)
    .join(' ')
}
