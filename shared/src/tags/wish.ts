import { desiredTags } from './desired-tags.ts'
import type { TagProblem, TagSet } from './tag-set.ts'
import type { TagRules, TagSources } from './tag-rules.ts'

/** Bends tags to what a cloud can hold: `DiskProvider.normalize`. */
export type Normalize = (
  desired: TagSet,
  enforced: ReadonlySet<string>,
) => { readonly tags: TagSet; readonly problems: readonly TagProblem[] }

/** What a claim's disk should carry, in its cloud's own form. */
export interface Wish {
  /** In order of precedence: on a full disk the last ones are left out. */
  readonly tags: TagSet
  readonly problems: readonly TagProblem[]
  /** False where an input could not be read: then nothing may be removed. */
  readonly complete: boolean
}

/** The one function by which the webhook judges and the workers of both programs act. Pure. */
export function wishFor(sources: TagSources, rules: TagRules, normalize: Normalize): Wish {
  const desired = desiredTags(sources, rules)
  const { tags, problems } = normalize(desired.tags, desired.enforced)
  const named = problems.map((problem) => withSource(problem, desired.sources.get(problem.label)))
  return { tags, problems: [...desired.problems, ...named], complete: desired.complete }
}

/** A problem of a renamed tag is told under the label that people know. */
function withSource(problem: TagProblem, label: string | undefined): TagProblem {
  return label === undefined ? problem : { ...problem, label }
}
