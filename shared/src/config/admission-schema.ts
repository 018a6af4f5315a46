import type { TagProblemKind } from '../tags/tag-set.ts'
import { choice, group, list, textMap } from './schema-parts.ts'

const verdicts = ['off', 'warn', 'deny'] as const

/** What the webhook says at `kubectl apply`. A claim that is being deleted, or whose labels and annotations stay, hears nothing. */
export const admissionSchema = group({
  problems: group({
    protectedKey: verdict(
      'A label or annotation asks for a tag that belongs to the cloud, the CSI driver or the cluster.',
    ),
    invalidKey: verdict('A key that the cloud cannot hold.'),
    invalidValue: verdict('A value that the cloud cannot hold.'),
    changedKey: verdict('A key that has to be changed to be written.'),
    changedValue: verdict('A value that has to be changed to be written.'),
    collision: verdict('Two keys that become one tag.'),
    overLimit: verdict('More tags than a disk can hold.'),
    deniedValue: verdict('A value that `tags.denyValues` lists.'),
    enforced: verdict('A claim that asks for another value of an enforced tag.'),
    invalidAnnotation: verdict('An annotation with tags that cannot be read.'),
    invalidTemplate: verdict('A template that gives no value for this claim, or more than 1 KiB.'),
    missingLabel: verdict('A label of `admission.requiredLabels` that the claim does not have.'),
  } satisfies Record<string, unknown>),
  requiredLabels: list([], 'Labels that every managed claim has to have.'),
  defaultLabels: textMap(
    'Labels that the mutating webhook adds to claims that lack them. A value, or `{{ .NamespaceLabels.team }}` for that of the namespace.',
  ),
})

function verdict(when: string) {
  return choice(verdicts, 'warn', when)
}

/** The config's name of each kind of problem. */
export const problemNames = {
  'protected-key': 'protectedKey',
  'invalid-key': 'invalidKey',
  'invalid-value': 'invalidValue',
  'changed-key': 'changedKey',
  'changed-value': 'changedValue',
  collision: 'collision',
  'over-limit': 'overLimit',
  'denied-value': 'deniedValue',
  enforced: 'enforced',
  'invalid-annotation': 'invalidAnnotation',
  'invalid-template': 'invalidTemplate',
} as const satisfies Record<TagProblemKind, keyof typeof admissionSchema.properties.problems.properties>
