import { compileDefaultLabels } from '@k8s-cloud-tagger/shared/config/default-labels.ts'
import type { Config } from '@k8s-cloud-tagger/shared/config/config.ts'
import { startAtZero } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import type { Metrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { problemNames } from '@k8s-cloud-tagger/shared/config/admission-schema.ts'
import type { TagRules } from '@k8s-cloud-tagger/shared/tags/tag-rules.ts'
import type { Normalize } from '@k8s-cloud-tagger/shared/tags/wish.ts'
import type { Job } from './admission/decide.ts'
import { DefaultLabels } from './admission/default-labels.ts'
import { ClaimJudge } from './admission/judge.ts'
import type { ToldProblem } from './admission/judge.ts'
import { mutation, validation } from './admission/replies.ts'
import type { FindNamespace } from './admission/replies.ts'

export interface AdmissionRepliesDeps {
  readonly config: Config
  readonly rules: TagRules
  readonly defaults: DefaultLabels
  readonly normalize: Normalize
  /** Undefined where nothing needs a namespace's labels. */
  readonly findNamespace: FindNamespace | undefined
  readonly enqueue: (job: Job) => void
  readonly metrics: Metrics
}

/** What the two endpoints answer under this config. */
export function admissionReplies({
  config,
  rules,
  defaults,
  normalize,
  findNamespace,
  enqueue,
  metrics,
}: AdmissionRepliesDeps) {
  return {
    validate: validation({
      judge: judgeFor(config, rules, normalize),
      findNamespace: rules.needsNamespace ? findNamespace : undefined,
      enqueue,
      onTold: problemCounter(metrics),
    }),
    mutate: mutation({ defaults, findNamespace }),
  }
}

/** The labels that the mutating endpoint adds. `parseConfig` has checked them. */
export function defaultLabelsFor(config: Config, rules: TagRules): DefaultLabels {
  const compiled = compileDefaultLabels(config.admission.defaultLabels)
  if (!compiled.ok) throw new Error(compiled.problems.join('\n'))
  const { labels } = compiled
  return new DefaultLabels({ labels, rules, ...scopeOf(config) })
}

export function judgeFor(config: Config, rules: TagRules, normalize: Normalize): ClaimJudge {
  return new ClaimJudge({ admission: config.admission, rules, normalize, ...scopeOf(config) })
}

function scopeOf({ scope, reportOnly }: Config) {
  return { scopeNeedsNamespace: scope.namespaceSelector.trim() !== '', reportOnly }
}

const kinds = [...(Object.keys(problemNames) as (keyof typeof problemNames)[]), 'missing-label'] as const

/** Counts what answers say, every kind at zero from the start. */
export function problemCounter({ admissionProblems }: Metrics): (told: readonly ToldProblem[]) => void {
  startAtZero(
    admissionProblems,
    kinds.flatMap((kind) => (['warn', 'deny'] as const).map((verdict) => ({ kind, verdict }))),
  )
  return (told) => {
    for (const { kind, verdict } of told) admissionProblems.inc({ kind, verdict })
  }
}
