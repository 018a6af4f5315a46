import fc from 'fast-check'

// The grammar of Kubernetes label keys and values, and beside it what annotations and a config file may hold. Every
// list of constants leans towards what clouds treat specially: reserved prefixes, letter case, lengths at the limit.

const alphanumeric = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
const lowerAlphanumeric = alphanumeric.filter((char) => char === char.toLowerCase())

function word(edge: readonly string[], inner: readonly string[], lengthMax: number): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.constantFrom(...edge),
      fc.string({ unit: fc.constantFrom(...inner), maxLength: lengthMax - 2 }),
      fc.option(fc.constantFrom(...edge), { nil: '' }),
    )
    .map((parts) => parts.join(''))
}

const labelName = word(alphanumeric, [...alphanumeric, '-', '_', '.'], 63)
const dnsLabel = word(lowerAlphanumeric, [...lowerAlphanumeric, '-'], 63).map((label) => label.replace(/-$/, '0'))
const prefix = fc.array(dnsLabel, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.').slice(0, 250))

export const labelKey: fc.Arbitrary<string> = fc.oneof(
  labelName,
  fc.tuple(prefix, labelName).map(([prefix, name]) => `${prefix.replace(/[-.]$/, '0')}/${name}`),
  fc.constantFrom(
    'app',
    'App',
    'app.kubernetes.io/name',
    'app-kubernetes-io/name',
    'app_kubernetes_io.name',
    'kubernetes.io/foo',
    'helm.sh/chart',
    'a.b',
    'a-b',
    'a_b',
    'a/b',
    '2024-q1',
    'Name',
    'KubernetesCluster',
    'CSIVolumeName',
    'constructor',
    'microsoft-team',
    'goog-team',
    `${'p'.repeat(63)}.${'q'.repeat(63)}.${'r'.repeat(63)}.${'s'.repeat(61)}/${'n'.repeat(63)}`,
    `${'p'.repeat(63)}.${'q'.repeat(63)}.${'r'.repeat(63)}.${'s'.repeat(61)}/${'n'.repeat(62)}m`,
  ),
)

export const labelValue: fc.Arbitrary<string> = fc.oneof(
  fc.constant(''),
  labelName,
  fc.constantFrom('v1.2.3', 'Prod', 'prod', 'setForDeletion', 'x'.repeat(63)),
)

/** Keys that no label can have, but a configured rule or an annotation can ask for. */
export const freeKey: fc.Arbitrary<string> = fc.oneof(
  labelKey,
  fc.string({ unit: 'grapheme', maxLength: 150 }),
  fc.constantFrom(
    '',
    '__proto__',
    'aws:team',
    'AWS:team',
    'awsteam',
    'Cost Center',
    'a<b>&c',
    'kubernetes.io/cluster/x',
    'ebs.csi.aws.com/cluster',
    'k'.repeat(128),
    'k'.repeat(129),
    `${'k'.repeat(127)}😀`,
  ),
)

export const freeValue: fc.Arbitrary<string> = fc.oneof(
  labelValue,
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom(
    'flopsy;mopsy',
    'Dev/Test',
    'two\nlines',
    '\u0000',
    '😀'.repeat(256),
    '😀'.repeat(257),
    ' spaced ',
    'aws:x',
  ),
)

/** The labels of a claim. */
export const labelWish: fc.Arbitrary<ReadonlyMap<string, string>> = wishOf(labelKey, labelValue)

/** Anything that rules, annotations and labels together may wish, more than a disk holds included. */
export const freeWish: fc.Arbitrary<ReadonlyMap<string, string>> = wishOf(freeKey, freeValue)

function wishOf(key: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<ReadonlyMap<string, string>> {
  return fc.array(fc.tuple(key, value), { maxLength: 80, size: 'large' }).map((entries) => new Map(entries))
}
