import { expect } from 'chai'
import * as fc from 'fast-check'
import { checkTag } from '../../testing/azure/tag-rules.ts'
import { checkLabels } from '../../testing/gcp/label-rules.ts'
import { freeKey, freeValue, freeWish, labelKey, labelWish } from '../../testing/label-arbitraries.ts'
import type { NormalizedTags, NormalizeOptions } from '../tags/normalized-tags.ts'
import type { Compatibility, TagForm } from '../tags/tag-form.ts'
import { sameTags, type TagSet } from '../tags/tag-set.ts'
import * as aws from './aws/normalize.ts'
import * as awsKeys from './aws/protected-keys.ts'
import * as azure from './azure/normalize.ts'
import * as azureKeys from './azure/protected-keys.ts'
import { foldedName } from './azure/tag-names.ts'
import * as gcp from './gcp/normalize.ts'
import * as gcpKeys from './gcp/protected-keys.ts'
import * as memory from './memory/normalize.ts'
import * as memoryKeys from './memory/protected-keys.ts'

interface Subject {
  readonly cloud: string
  readonly normalize: (desired: TagSet, options?: NormalizeOptions) => NormalizedTags
  readonly tagsPerDisk: number
  readonly isProtectedKey: (key: string, allowed?: ReadonlySet<string>) => boolean
  readonly canonicalKey: (key: string) => string
  /** Throws where the cloud would refuse the write. */
  readonly refuse: (tags: TagSet) => void
}

const itself = (key: string) => key

const subjects: readonly Subject[] = [
  { cloud: 'aws', ...aws, ...awsKeys, canonicalKey: itself, refuse: refuseAsEc2 },
  { cloud: 'gcp', ...gcp, ...gcpKeys, canonicalKey: itself, refuse: checkLabels },
  {
    cloud: 'azure',
    ...azure,
    ...azureKeys,
    canonicalKey: foldedName,
    refuse: (tags) => tags.forEach((value, key) => checkTag(key, value)),
  },
  { cloud: 'mock', ...memory, ...memoryKeys, canonicalKey: itself, refuse: () => {} },
]

function refuseAsEc2(tags: TagSet): void {
  for (const [key, value] of tags) {
    expect(key).to.match(/^(?!aws:)\P{Cc}{1,128}$/iu)
    expect(value).to.match(/^(?!aws:)\P{Cc}{0,256}$/iu)
  }
}

const compatibilities: readonly Compatibility[] = ['none', 'rust-0.4', 'k8s-pvc-tagger']

/** Few characters, so that labels meet; and keys at the very lengths at which tools and clouds cut. */
const meetingKey = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'A', '.', '/', '-', '_', '<', ':', 'é', 'Σ'), maxLength: 4 }),
  fc
    .tuple(fc.constantFrom(61, 62, 63, 64, 127, 128, 511, 512), fc.constantFrom('', '-', '_', '.x', '-y', 'é', '東'))
    .map(([length, end]) => 'k'.repeat(length) + end),
  fc.constantFrom('name', 'name-', 'Name', 'kubernetes.io', 'kubernetes.io/x', 'KubernetesCluster', 'hidden-x'),
  fc.constantFrom('goog-x', 'aws:x', 'AWS:x', 'Azure-x', 'CSIVolumeName', 'kubernetes.io/cluster-x'),
)
const meetingWish = fc
  .array(fc.tuple(fc.oneof(meetingKey, freeKey), freeValue), { maxLength: 80 })
  .map((entries) => new Map(entries))

const wish: fc.Arbitrary<TagSet> = fc.oneof(labelWish, freeWish, meetingWish)

/** Some of the keys that are protected somewhere, as they come and as they are on some disk. */
const allowedKeys = fc.subarray(
  ['name', 'Name', 'kubernetes.io/x', 'kubernetes-io_x', 'kubernetes.io_x', 'goog-x', 'HIDDEN-X', 'aws:x', 'azure-x'],
  { minLength: 0 },
)

for (const { cloud, normalize, tagsPerDisk, isProtectedKey, canonicalKey, refuse } of subjects) {
  for (const compatibility of compatibilities) {
    describe(`tags on ${cloud} in the form ${compatibility}`, () => {
      /** For every wish, form and choice of enforced keys. */
      function check(property: (desired: TagSet, form: TagForm, enforced: ReadonlySet<string>) => void): void {
        const wishes = wish.chain((desired) =>
          fc.tuple(fc.constant(desired), fc.subarray([...desired.keys()]), allowedKeys),
        )
        fc.assert(
          fc.property(wishes, ([desired, enforced, allowed]) =>
            property(desired, { compatibility, allowedKeys: new Set(allowed) }, new Set(enforced)),
          ),
          { numRuns: 150 },
        )
      }

      it('C23: are none where nothing is wished', () => {
        const { problems, tags } = normalize(new Map(), { form: { compatibility, allowedKeys: new Set() } })

        expect([tags.size, problems]).to.deep.equal([0, []])
      })

      it('stay as they are when normalised again', () => {
        check((desired, form, enforced) => {
          const once = normalize(desired, { form, enforced }).tags
          const twice = normalize(once, { form })

          expect(sameTags(twice.tags, once)).to.equal(true)
          expect(twice.problems).to.deep.equal([])
        })
      })

      it('C17: do not depend on the order of the wish, nor does what is said of them', () => {
        check((desired, form, enforced) => {
          const first = normalize(desired, { form, enforced })
          const reversed = normalize(new Map([...desired].toReversed()), { form, enforced })

          expect([...reversed.tags]).to.deep.equal([...first.tags])
          expect(reversed.problems).to.deep.equal(first.problems)
        })
      })

      it('are one for each label, or it is said once that there is none', () => {
        check((desired, form, enforced) => {
          const { problems, tags } = normalize(desired, { form, enforced })

          const lost = problems.filter(({ tag }) => tag === undefined).map(({ label }) => label)
          expect(new Set(lost).size).to.equal(lost.length)
          expect(tags.size + lost.length).to.equal(desired.size)
          for (const [label, value] of desired) {
            const told = problems.filter((problem) => problem.label === label)
            if (tags.get(label) !== value) expect(told, label).not.to.deep.equal([])
          }
        })
      })

      it('C7: are always legal, and never too many', () => {
        check((desired, form, enforced) => {
          const { tags } = normalize(desired, { form, enforced })

          refuse(tags)
          expect(tags.size).to.be.at.most(tagsPerDisk)
          expect(new Set(Array.from(tags.keys(), canonicalKey)).size).to.equal(tags.size)
        })
      })

      it('C12, E9, E10: are never protected ones, but for those that are allowed', () => {
        check((desired, form, enforced) => {
          const { tags } = normalize(desired, { form, enforced })

          for (const key of tags.keys()) expect(isProtectedKey(key, form.allowedKeys), key).to.equal(false)
        })
      })

      it('are the enforced ones, whatever else is wished, and those come first', () => {
        check((desired, form, enforced) => {
          const alone = normalize(new Map([...desired].filter(([key]) => enforced.has(key))), { form, enforced }).tags
          const { tags } = normalize(desired, { form, enforced })

          expect([...tags].slice(0, alone.size)).to.deep.equal([...alone])
        })
      })

      it('C9: have problems that fit into an admission warning and say what became of the label', () => {
        check((desired, form, enforced) => {
          for (const { kind, label, message, tag } of normalize(desired, { form, enforced }).problems) {
            expect(`${label.slice(0, 40)}: ${message}`.length).to.be.at.most(120)
            expect(message).to.match(/^[^\p{Cc}]+$/u)
            const outcome = {
              'changed-key': `; it became ${tag?.slice(0, 20)}`,
              'changed-value': '; the value became ',
            }
            expect(message).to.include(
              kind === 'changed-key' || kind === 'changed-value' ? outcome[kind] : 'it was left out',
            )
          }
        })
      })
    })
  }
}

/** Labels of which every tool could write most: few, and with values that every cloud takes. */
const tameWish = fc
  .array(fc.tuple(labelKey, fc.constantFrom('', 'core', 'a-b_c')), { minLength: 1, maxLength: 8 })
  .map((entries) => new Map(entries))

/** What the earlier tools did to labels, written down once more, character by character; a Map, so the last one wins. */
const reserved = new Set('<>%&\\?/')
const characters = (text: string, change: (character: string) => string) => Array.from(text, change).join('')
const noReserved = (text: string, by: string) => characters(text, (c) => (reserved.has(c) ? by : c))
const rustOnGoogle = (text: string) =>
  characters(text.toLowerCase(), (c) => ('abcdefghijklmnopqrstuvwxyz0123456789-_'.includes(c) ? c : '-')).slice(0, 63)

function goOnGoogle(label: string): string {
  let key = label.toLowerCase().replaceAll('/', '_').replaceAll('.', '-')
  while (key.endsWith('-') || key.endsWith('_')) key = key.slice(0, -1)
  return key.slice(0, 63)
}

interface Model {
  readonly key: (label: string) => string
  readonly value: (value: string) => string
}

const models: Readonly<Record<string, Model>> = {
  'aws rust-0.4': { key: (k) => noReserved(k, '-').slice(0, 128), value: (v) => noReserved(v, '-').slice(0, 256) },
  'gcp rust-0.4': { key: rustOnGoogle, value: rustOnGoogle },
  'azure rust-0.4': { key: (k) => noReserved(k, '-').slice(0, 512), value: (v) => v.slice(0, 256) },
  'aws k8s-pvc-tagger': { key: itself, value: itself },
  'gcp k8s-pvc-tagger': { key: goOnGoogle, value: (v) => v.slice(0, 63) },
  'azure k8s-pvc-tagger': { key: (k) => noReserved(k, '_').slice(0, 512), value: itself },
}

describe('the tags of an earlier tool', () => {
  for (const [name, { key, value }] of Object.entries(models)) {
    it(`are what it would have written, wherever it could write at all: ${name}`, () => {
      const [cloud, compatibility] = name.split(' ') as [string, Compatibility]
      const { canonicalKey, isProtectedKey, normalize, refuse, tagsPerDisk } = subjects.find(
        (subject) => subject.cloud === cloud,
      ) as Subject
      const isGo = compatibility === 'k8s-pvc-tagger'
      let compared = 0
      const isWritten = (label: string) => {
        const lower = label.toLowerCase()
        if (isGo) return lower !== 'name' && lower !== 'kubernetescluster' && !lower.startsWith('kubernetes.io')
        return cloud !== 'gcp' || /^[a-z]/.test(key(label))
      }

      fc.assert(
        fc.property(fc.oneof(labelWish, tameWish), (desired) => {
          const sorted = [...desired].filter(([label]) => isWritten(label)).toSorted(([a], [b]) => (a < b ? -1 : 1))
          const written = new Map(
            sorted
              .map(([label, wished]) => [key(label), value(wished)] as const)
              .filter(([tag]) => !isProtectedKey(tag)),
          )
          // Where it was random or failed, or where nobody knows what the cloud made of it, there is nothing to compare.
          fc.pre(
            written.size > 0 &&
              written.size <= tagsPerDisk &&
              (!isGo || sorted.every(([label]) => meetsNone(label, sorted, key))),
          )
          fc.pre(new Set(Array.from(written.keys(), canonicalKey)).size === written.size)
          fc.pre(isTaken(() => refuse(written)))
          compared++

          const { tags } = normalize(desired, { form: { compatibility, allowedKeys: new Set() } })

          expect(tags.size).to.equal(written.size)
          for (const [tag, text] of written) expect(tags.get(tag), tag).to.equal(text)
        }),
      )
      expect(compared).to.be.at.least(20)
    })
  }
})

function meetsNone(label: string, all: TagEntries, key: (label: string) => string): boolean {
  return all.every(([other]) => other === label || key(other) !== key(label))
}

type TagEntries = readonly (readonly [string, string])[]

function isTaken(refuse: () => void): boolean {
  try {
    refuse()
    return true
  } catch {
    return false
  }
}
