import { choice, flag, globs, group, list, text, textMap } from './schema-parts.ts'

/** Which tags a claim's disk gets. `docs/tags.md` explains each rule with an example. */
export const tagsSchema = group({
  labels: globs(['*'], 'Keys of claim labels'),
  annotations: globs([], 'Keys of claim annotations'),
  namespaceLabels: globs([], "Keys of the namespace's labels"),
  defaults: textMap(
    'Tags that every disk gets unless something else says otherwise. Values may be templates, such as `{{ .Namespace }}`.',
  ),
  enforced: textMap('Tags that every disk gets and that no claim can change. Values may be templates.'),
  rename: textMap(
    'Other names for tags, from the key as it comes to the key as it is written: `app.kubernetes.io/name: app`. Enforced tags keep their names.',
  ),
  prefix: text('Put before the key of every tag but enforced ones, after renaming.', { maxLength: 100 }),
  denyValues: list(
    [],
    'Values that are never written, as globs, such as `undefined`. The tag is left out and reported.',
  ),
  allowedKeys: list(
    [],
    'Protected keys, as tags, that may be written all the same, such as `Name`. Protected are the keys of the cloud, the CSI driver and the cluster.',
  ),
  claimTags: flag(
    false,
    'Whether a claim may name tags of its own in the annotation `k8s-cloud-tagger/tags`, as a JSON or YAML map.',
  ),
  optOut: flag(
    false,
    'Whether a claim is left alone that carries the annotation `k8s-cloud-tagger/ignore` (any value but `false`). What its disk carries stays.',
  ),
  annotationPrefixes: list(
    ['k8s-cloud-tagger'],
    'The prefixes of these two annotations, the first one that is there counts. For users of k8s-pvc-tagger: add `k8s-pvc-tagger` or `aws-ebs-tagger`.',
  ),
  onConflict: choice(
    ['overwrite', 'preserve'],
    'overwrite',
    'What happens where somebody else put another value under the same key: `overwrite` replaces it, `preserve` keeps and reports it. Such a key is never removed.',
  ),
  onRemoval: choice(
    ['remove', 'keep'],
    'remove',
    'What happens to a tag of ours that is no longer wished: `remove` takes it off the disk, `keep` leaves it and remembers it as ours.',
  ),
  acknowledgedRemovals: list(
    [],
    'Tags whose removal from many disks at once is meant. Without it, removals of one tag stop when more than 20 disks and 5 % of all would lose it within an hour.',
  ),
  compatibility: choice(
    ['none', 'rust-0.4', 'k8s-pvc-tagger'],
    'none',
    'The form of keys and values: our own, or that of an earlier tool, so that its tags stay as they are.',
  ),
  adopt: choice(
    ['none', 'rust-0.4', 'k8s-pvc-tagger'],
    'none',
    'The earlier tool whose tags become ours: tags that are on a disk already, with the key and value that its claim wishes. Without it they count as there before us and are never removed.',
  ),
})

/** Which claims are managed at all. Out of scope means hands off: what a disk carries stays. */
export const scopeSchema = group({
  namespaces: globs(['*'], 'Namespaces'),
  storageClasses: globs(['*'], 'Names of storage classes'),
  claimSelector: text(
    'Only claims whose labels match this selector, in the form that Kubernetes uses: `tier in (gold, silver), !legacy`.',
    { maxLength: 2000 },
  ),
  namespaceSelector: text('Only claims in namespaces whose labels match this selector.', { maxLength: 2000 }),
})
