import { parseConfig } from '../src/config/load-config.ts'
import { rulesFor } from '../src/config/rules-for.ts'
import type { DiskProvider } from '../src/providers/provider.ts'
import type { Clock } from '../src/runtime/clock.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { RemovalBrake } from '../src/tagger/removal-brake.ts'
import type { TaggingRules } from '../src/tagger/tagging-rules.ts'
import type { TagRules } from '../src/tags/tag-rules.ts'

/** Rules as the programs make them of a config, of which only what matters is written down, as YAML or JSON. */
export function rulesOf(config: string | object = ''): TagRules {
  return rulesFor(parseConfig(typeof config === 'string' ? config : JSON.stringify(config)))
}

export interface TaggingRulesOptions extends Partial<Omit<TaggingRules, 'provider' | 'rules'>> {
  readonly provider: DiskProvider
  readonly clock: Clock
  readonly config?: string | object | undefined
}

/** Everything that decides, with the defaults of an empty config but for what is named. */
export function taggingRules({ clock, config, ...overrides }: TaggingRulesOptions): TaggingRules {
  return {
    cloud: 'aws',
    rules: rulesOf(config),
    conflict: 'overwrite',
    removes: true,
    adopt: false,
    brake: new RemovalBrake({ clock, logger: silentLogger, acknowledged: [], diskCount: () => 0 }),
    ...overrides,
  }
}
