import { startAws } from './aws.ts'
import { startAzure } from './azure.ts'
import type { BenchCloud, CloudName } from './bench-cloud.ts'
import { startGcp } from './gcp.ts'

const starts: Readonly<Record<CloudName, (options: { readonly dir: string }) => Promise<BenchCloud>>> = {
  aws: startAws,
  gcp: startGcp,
  azure: startAzure,
}

/** `dir` takes whatever file the cloud's credentials need. */
export function startCloud(name: CloudName, options: { readonly dir: string }): Promise<BenchCloud> {
  return starts[name](options)
}
