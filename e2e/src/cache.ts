import { homedir } from 'node:os'
import path from 'node:path'

/** Where built binaries and the Python environment are kept between runs: `E2E_CACHE`, else below the user's cache folder. */
export function cacheRoot(): string {
  const chosen = process.env['E2E_CACHE']
  if (chosen !== undefined && chosen !== '') return path.resolve(chosen)
  const userCache = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
  return path.join(userCache, 'k8s-cloud-tagger', 'e2e')
}
