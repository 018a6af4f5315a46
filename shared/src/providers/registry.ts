import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Random } from '../runtime/random.ts'
import type { TagForm } from '../tags/tag-form.ts'
import type { CloudMetrics } from './cloud-metrics.ts'
import type { ProviderName } from './provider.ts'
import type { ExpectedCompany, RunningProvider } from './running-provider.ts'
import type { OpenPot } from './token-pot.ts'

export interface ProviderDeps {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: CloudMetrics
  readonly expected: ExpectedCompany
  /** `share` in (0, 1]: this process's part of what the installation may use. */
  readonly budget: {
    readonly profile: 'shared' | 'exclusive'
    readonly share: number
    /** Only AWS draws from a pot as yet; elsewhere the stated share is all there is. */
    readonly openPot?: OpenPot | undefined
  }
  /** HTTPS_PROXY, HTTP_PROXY and NO_PROXY for calls to the cloud; without it every connection is direct. */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>>
  readonly tagForm: TagForm
  /** Empty strings count as missing. */
  readonly aws: { readonly region: string; readonly endpoint: string; readonly callTimeoutMs: number }
  readonly gcp: { readonly project: string; readonly endpoint: string; readonly callTimeoutMs: number }
  readonly azure: {
    readonly resourceManagerEndpoint: string
    readonly authorityHost: string
    readonly callTimeoutMs: number
  }
}

/** Every cloud we know. A folder is loaded only when it is asked for: the SDKs are large. */
const constructors: Readonly<Record<ProviderName, (deps: ProviderDeps) => Promise<RunningProvider>>> = {
  mock: async ({ clock, tagForm }) => {
    const { MemoryProvider } = await import('./memory/memory-provider.ts')
    return Object.assign(new MemoryProvider({ clock, tagForm }), {
      poke() {},
      isSlow: () => false,
      status: () => [],
      stop: async () => {},
    })
  },
  aws: async ({ aws, ...deps }) => {
    const { createAwsProvider } = await import('./aws/aws-provider.ts')
    return createAwsProvider({
      ...deps,
      region: aws.region || undefined,
      endpoint: aws.endpoint || undefined,
      callTimeoutMs: aws.callTimeoutMs,
    })
  },
  gcp: async ({ gcp, ...deps }) => {
    const { createGcpProvider } = await import('./gcp/gcp-provider.ts')
    return createGcpProvider({
      ...deps,
      project: gcp.project || undefined,
      endpoint: gcp.endpoint || undefined,
      callTimeoutMs: gcp.callTimeoutMs,
    })
  },
  azure: async ({ azure, ...deps }) => {
    const { createAzureProvider } = await import('./azure/azure-provider.ts')
    return createAzureProvider({
      ...deps,
      resourceManagerEndpoint: azure.resourceManagerEndpoint || undefined,
      authorityHost: azure.authorityHost || undefined,
      callTimeoutMs: azure.callTimeoutMs,
    })
  },
}

/** Rejects where its configuration lacks something. Makes no cloud call. */
export function createProvider(name: ProviderName, deps: ProviderDeps): Promise<RunningProvider> {
  return constructors[name](deps)
}
