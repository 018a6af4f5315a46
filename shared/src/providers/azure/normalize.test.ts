import { expect } from 'chai'
import * as fc from 'fast-check'
import { freeWish, labelWish } from '../../../testing/label-arbitraries.ts'
import { ownForm } from '../../tags/tag-form.ts'
import { normalize } from './normalize.ts'
import { isProtectedKey, isReserved } from './protected-keys.ts'
import { foldedName } from './tag-names.ts'

const tagsOf = (desired: Readonly<Record<string, string>>, allowedKeys = ownForm.allowedKeys) => {
  const form = { ...ownForm, allowedKeys }
  const { problems, tags } = normalize(new Map(Object.entries(desired)), { form })
  return { tags: Object.fromEntries(tags), problems: problems.map(({ kind, label, tag }) => [kind, label, tag]) }
}

describe('Azure tags', () => {
  for (const [id, key, value] of [
    ['C2: ', 'key.with.dots', 'x'],
    ['C3: ', 'path', 'Dev/Test'],
    ['C3: ', 'code', '74300-000-700/370'],
    ['C4: ', 'list', 'a=1,b=2'],
    ['C3: ', 'odd', '<%&\\?>'],
    ['', 'CostCenter', 'Ada Löwe 🦁'],
    ['C6: ', 'First Name', ''],
    ['', 'kubernetes.io:foo', 'x'],
    ['', '__proto__', 'x'],
    ['', 'k'.repeat(512), 'v'.repeat(256)],
  ] as const) {
    it(`${id}are written as they are: ${key.slice(0, 30)}=${value.slice(0, 30)}`, () => {
      const { problems, tags } = normalize(new Map([[key, value]]))

      expect([...tags]).to.deep.equal([[key, value]])
      expect(problems).to.deep.equal([])
    })
  }

  it('C9: have : where a label has /, and say so', () => {
    expect(tagsOf({ 'app.kubernetes.io/name': 'web', 'kubernetes.io/foo': 'x' })).to.deep.equal({
      tags: { 'app.kubernetes.io:name': 'web', 'kubernetes.io:foo': 'x' },
      problems: [
        ['changed-key', 'app.kubernetes.io/name', 'app.kubernetes.io:name'],
        ['changed-key', 'kubernetes.io/foo', 'kubernetes.io:foo'],
      ],
    })
  })

  it('C9: show the reason, and the whole key that a label of up to 40 characters became', () => {
    const { problems } = normalize(new Map([[`example.com/${'n'.repeat(28)}`, 'x']]))

    expect(problems.map(({ message }) => message)).to.deep.equal([
      `Azure forbids <>%&\\?/; it became example.com:${'n'.repeat(28)}`,
    ])
  })

  for (const key of [
    'microsoft-team',
    'Azure.example.com/team',
    'WindowsVersion',
    'k8s-azure-created-by',
    'K8S-Azure-Created-By',
    'kubernetes.io-created-for-pvc-name',
    'aks-managed-cluster-name',
    'hidden-title',
  ]) {
    it(`E9: leave out a protected key and say so: ${key}`, () => {
      expect(tagsOf({ [key]: 'x', team: 'core' })).to.deep.equal({
        tags: { team: 'core' },
        problems: [['protected-key', key, undefined]],
      })
    })
  }

  it('C12: hold a protected key that the user asked for by name, but never one that Azure refuses', () => {
    const optedIn = new Set(['Hidden-Title', 'azure-team'])

    expect(tagsOf({ 'hidden-title': 'db', 'azure-team': '1' }, optedIn).tags).to.deep.equal({ 'hidden-title': 'db' })
    expect([isProtectedKey('hidden-title', optedIn), isReserved('azure-team')]).to.deep.equal([false, true])
  })

  it('C17: hold one of several names that differ in case only: the first in order, whatever the order of the wish', () => {
    const entries = [
      ['app', 'lower'],
      ['App', 'upper'],
      ['APP', 'capitals'],
    ] as const

    for (const order of [entries, entries.toReversed()]) {
      const { problems, tags } = normalize(new Map(order))

      expect([...tags]).to.deep.equal([['APP', 'capitals']])
      expect(problems.map(({ kind, label }) => [kind, label])).to.have.deep.members([
        ['collision', 'app'],
        ['collision', 'App'],
      ])
    }
  })

  it('let what needs no change win over what does', () => {
    expect(tagsOf({ 'A/b': 'changed', 'a:B': 'as it is' }).tags).to.deep.equal({ 'a:B': 'as it is' })
  })

  it('are found in any case, so that a plan takes a tag in another case for the same one', () => {
    const { tags } = normalize(new Map([['App', '1']]))

    expect([tags.has('app'), tags.get('APP')]).to.deep.equal([true, '1'])
  })

  it('cut a value of more than 256 characters without leaving half of one', () => {
    const { problems, tags } = tagsOf({ note: `x${'🦁'.repeat(200)}` })

    expect(tags['note']).to.equal(`x${'🦁'.repeat(127)}`)
    expect(problems).to.deep.equal([['changed-value', 'note', 'note']])
  })

  for (const [when, key, value, kind] of [
    ['a forbidden character in a key', 'a<b', 'x', 'invalid-key'],
    ['a backslash in a key', 'a\\b', 'x', 'invalid-key'],
    ['a control character in a key', 'no\u0000te', 'x', 'invalid-key'],
    ['an empty key', '', 'x', 'invalid-key'],
    ['a key that is too long', 'k'.repeat(513), 'x', 'invalid-key'],
    ['a line break in a value', 'note', 'a\nb', 'invalid-value'],
    ['half a character', 'note', 'a\ud800', 'invalid-value'],
  ] as const) {
    it(`leave out ${when}, and only that`, () => {
      expect(tagsOf({ [key]: value, team: 'core' })).to.deep.equal({
        tags: { team: 'core' },
        problems: [[kind, key, undefined]],
      })
    })
  }

  it('are at most 50, the first in order of their keys', () => {
    const entries = Array.from({ length: 60 }, (_, i) => [`key-${String(i).padStart(2, '0')}`, 'x'] as const)

    const { problems, tags } = normalize(new Map(entries.toReversed()))

    expect([...tags.keys()]).to.deep.equal(entries.slice(0, 50).map(([key]) => key))
    expect(problems.map(({ kind, label }) => [kind, label])).to.deep.equal(
      entries.slice(50).map(([key]) => ['over-limit', key]),
    )
  })

  it('always fit into Azure, no two with one name, and stay as they are when normalised again', () => {
    fc.assert(
      fc.property(fc.oneof(labelWish, freeWish), (desired) => {
        const { problems, tags } = normalize(desired)

        expect(tags.size).to.be.at.most(50)
        for (const [key, value] of tags) {
          expect(key.length).to.be.within(1, 512)
          expect(value.length).to.be.at.most(256)
          expect(/[<>%&\\?/\p{Cc}]/u.test(key)).to.equal(false)
          expect(isProtectedKey(key)).to.equal(false)
        }
        expect(new Set(Array.from(tags.keys(), foldedName)).size).to.equal(tags.size)
        const lost = problems.filter(({ tag }) => tag === undefined)
        expect(tags.size + lost.length).to.equal(desired.size)
        const again = normalize(tags)
        expect([[...again.tags], again.problems]).to.deep.equal([[...tags], []])
      }),
    )
  })

  it('of labels of one claim lose none but by case, protection or number', () => {
    fc.assert(
      fc.property(labelWish, (desired) => {
        const { problems } = normalize(desired)

        for (const { kind } of problems)
          expect(kind).to.be.oneOf(['changed-key', 'collision', 'protected-key', 'over-limit'])
      }),
    )
  })
})
