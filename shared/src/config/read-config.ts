import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'
import { ConfigError, parseConfig } from './load-config.ts'

export const defaultConfigPath = '/etc/k8s-cloud-tagger/config.yaml'

/** Reads a config file. Throws ConfigError, also where the file is not there. */
export function readConfig(path: string): Config {
  return parseConfig(textOf(path))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new ConfigError([`${path}: cannot be read (${reason}); CONFIG_PATH names another file`])
  }
}
