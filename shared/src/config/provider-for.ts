import type { Clock } from '../runtime/clock.ts'
import { durationMs } from '../runtime/duration.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Random } from '../runtime/random.ts'
import { prometheusCloudMetrics } from '../providers/prometheus-cloud-metrics.ts'
import { createProvider } from '../providers/registry.ts'
import type { ProviderDeps } from '../providers/registry.ts'
import type { ExpectedCompany, RunningProvider } from '../providers/running-provider.ts'
import type { OpenPot } from '../providers/token-pot.ts'
import { budgetShare } from './budget-share.ts'
import type { Config } from './config.ts'

export interface ProviderForDeps {
  readonly config: Config
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly metrics: Metrics
  /** For the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly openPot: OpenPot
}

/** The configured cloud, with this program's part of the budget. */
export function providerFor(
  program: 'webhook' | 'reconciler',
  { config, clock, random, logger, metrics, env, openPot }: ProviderForDeps,
): (expected: ExpectedCompany) => Promise<RunningProvider> {
  const { budget, cloudProvider } = config
  const cloudMetrics = prometheusCloudMetrics(metrics, cloudProvider)
  return (expected) =>
    createProvider(cloudProvider, {
      clock,
      random,
      logger,
      expected,
      metrics: cloudMetrics,
      proxyEnv: env,
      budget: { profile: budget.profile, share: budgetShare(program, config), openPot },
      ...cloudSettings(config),
    })
}

/** What the config says about each cloud, as `createProvider` takes it. */
export function cloudSettings({
  aws,
  azure,
  gcp,
  tags,
}: Config): Pick<ProviderDeps, 'aws' | 'azure' | 'gcp' | 'tagForm'> {
  return {
    tagForm: { compatibility: tags.compatibility, allowedKeys: new Set(tags.allowedKeys) },
    aws: { region: aws.region, endpoint: aws.endpoint, callTimeoutMs: durationMs(aws.callTimeout) },
    gcp: { project: gcp.project, endpoint: gcp.endpoint, callTimeoutMs: durationMs(gcp.callTimeout) },
    azure: {
      resourceManagerEndpoint: azure.resourceManagerEndpoint,
      authorityHost: azure.authorityHost,
      callTimeoutMs: durationMs(azure.callTimeout),
    },
  }
}
