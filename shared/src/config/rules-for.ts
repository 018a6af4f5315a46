import { createHash } from 'node:crypto'
import { compileRules } from '../tags/tag-rules.ts'
import type { TagRules } from '../tags/tag-rules.ts'
import type { Config } from './config.ts'

/** The config's rules, ready for use. `parseConfig` has checked them. */
export function rulesFor(config: Pick<Config, 'clusterName' | 'scope' | 'tags'>): TagRules {
  const compiled = compileRules(config)
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'))
  return compiled.rules
}

/** Tells two sets of rules apart in a fleet's metrics: 12 hexadecimal digits. */
export function rulesHash({ scope, tags }: Pick<Config, 'scope' | 'tags'>): string {
  return createHash('sha256')
    .update(JSON.stringify([scope, tags]))
    .digest('hex')
    .slice(0, 12)
}
