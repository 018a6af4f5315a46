import { durationMs } from '../runtime/duration.ts'
import type { Config } from './config.ts'

/** After this a call to the configured cloud is given up, in milliseconds. `mock` answers at once. */
export function callTimeoutMs(config: Config): number {
  const { cloudProvider } = config
  return durationMs(config[cloudProvider === 'mock' ? 'aws' : cloudProvider].callTimeout)
}
