import { expect } from 'chai'
import * as fc from 'fast-check'
import { freeWish, labelWish } from '../../../testing/label-arbitraries.ts'
import { ownForm } from '../../tags/tag-form.ts'
import { hashedKey } from './label-form.ts'
import { normalize } from './normalize.ts'
import { isProtectedKey } from './protected-keys.ts'

const tagsOf = (desired: Readonly<Record<string, string>>, allowedKeys = ownForm.allowedKeys) => {
  const form = { ...ownForm, allowedKeys }
  const { problems, tags } = normalize(new Map(Object.entries(desired)), { form })
  return { tags: Object.fromEntries(tags), problems, told: problems.map(({ kind, label, tag }) => [kind, label, tag]) }
}

const legalKey = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}0-9_-]{0,62}$/u
const legalValue = /^[\p{Ll}\p{Lo}0-9_-]{0,63}$/u

describe('Google labels', () => {
  for (const [key, value] of [
    ['team', 'core'],
    ['cost-center', '4711'],
    ['a_b-c', '2024-q1'],
    ['empty', ''],
    ['dashes', '-_-'],
    ['größe', 'straße'],
    ['名前', '東京'],
    ['constructor', 'x'],
    ['goog', 'x'],
    ['google', 'x'],
    ['kubernetes-io', 'x'],
    ['k'.repeat(63), 'v'.repeat(63)],
    ['ä'.repeat(63), 'ä'.repeat(63)],
  ] as const) {
    it(`are written as they are: ${key.slice(0, 30)}=${value.slice(0, 30)}`, () => {
      const { problems, tags } = normalize(new Map([[key, value]]))

      expect([...tags]).to.deep.equal([[key, value]])
      expect(problems).to.deep.equal([])
    })
  }

  for (const [key, becomes] of [
    ['Team', 'team'],
    ['app.kubernetes.io/name', 'app_kubernetes_io_name'],
    ['helm.sh/chart', 'helm_sh_chart'],
    ['my_company/my_object', 'my_company_my_object'],
    ['2024-q1', 'l_2024-q1'],
    ['_hidden', 'l__hidden'],
    ['-', 'l_-'],
    ['...', 'l____'],
    ['__proto__', 'l___proto__'],
    ['Cost Center', 'cost_center'],
    ['İstanbul', 'i_stanbul'],
    ['𝐀bc', 'l__bc'],
    ['half\ud800', 'half_'],
    ['🦁', 'l__'],
    ['k'.repeat(64), 'k'.repeat(63)],
    ['9'.repeat(63), `l_${'9'.repeat(61)}`],
    ['東'.repeat(63), '東'.repeat(42)],
  ] as const) {
    it(`C9: get a key that Google takes, and say so: ${key.slice(0, 30)}`, () => {
      const { told, tags } = tagsOf({ [key]: 'x' })

      expect(tags).to.deep.equal({ [becomes]: 'x' })
      expect(told).to.deep.equal([['changed-key', key, becomes]])
    })
  }

  for (const [value, becomes, id] of [
    ['v1.2.3', 'v1_2_3', 'C7: '],
    ['Team:A', 'team_a', 'C7: '],
    ['setForDeletion', 'setfordeletion', 'C10: '],
    ['something/1-2-3', 'something_1-2-3', 'C9: '],
    ['v'.repeat(70), 'v'.repeat(63), 'C7, C10: '],
    ['two\nlines', 'two_lines', ''],
    ['\0', '_', ''],
    [' spaced ', '_spaced_', ''],
    ['🦁'.repeat(100), '_'.repeat(63), ''],
    ['東'.repeat(63), '東'.repeat(42), ''],
  ] as const) {
    it(`${id}get a value that Google takes, and say so: ${JSON.stringify(value.slice(0, 30))}`, () => {
      const { told, tags } = tagsOf({ team: value, other: 'kept' })

      expect(tags).to.deep.equal({ team: becomes, other: 'kept' })
      expect(told).to.deep.equal([['changed-value', 'team', 'team']])
    })
  }

  for (const [label, value, message] of [
    ['Team', 'x', 'Google takes a-z 0-9 _ -; it became team'],
    ['2024-q1', 'x', 'begins with no letter; it became l_2024-q1'],
    ['k'.repeat(64), 'x', `Google takes 63 characters; it became ${'k'.repeat(37)}...`],
    ['version', 'v1.2.3', 'Google takes a-z 0-9 _ -; the value became v1_2_3'],
    ['note', 'v'.repeat(70), `Google takes 63 characters; the value became ${'v'.repeat(30)}...`],
    ['goog-x', 'x', 'the key belongs to Google, the CSI driver or the cluster; it was left out'],
  ] as const) {
    it(`C9: say the reason and what became of it: ${label.slice(0, 20)}`, () => {
      expect(tagsOf({ [label]: value }).problems.map((problem) => problem.message)).to.deep.equal([message])
    })
  }

  it('C9: show the whole key that a label of up to 40 characters became', () => {
    const label = `1${'A'.repeat(39)}`
    const { problems } = tagsOf({ [label]: '1', [label.toLowerCase()]: '2' })

    expect(problems.map(({ message, tag }) => message.endsWith(`; it became ${tag}`))).to.deep.equal([true, true])
  })

  for (const key of [
    'goog-x',
    'goog-gke-volume',
    'Goog-X',
    'google-y',
    'cluster-id-gke-io',
    'volume-publish-status-gke-io',
    'kubernetes-io-cluster-prod',
    'managed-by-cnrm',
  ]) {
    it(`${key.startsWith('goo') ? 'C16' : 'E9'}: leave out a protected key and say so: ${key}`, () => {
      const { told, tags } = tagsOf({ [key]: 'x', team: 'core' })

      expect(tags).to.deep.equal({ team: 'core' })
      expect(told).to.deep.equal([['protected-key', key, undefined]])
    })
  }

  it('C12: take a protected key that the user opted in', () => {
    const optedIn = new Set(['managed-by-cnrm'])

    expect(tagsOf({ 'managed-by-cnrm': 'false' }, optedIn).tags).to.deep.equal({ 'managed-by-cnrm': 'false' })
    expect(isProtectedKey('managed-by-cnrm', optedIn)).to.equal(false)
    expect(isProtectedKey('cluster-id-gke-io', optedIn)).to.equal(true)
  })

  it('leave out an empty key', () => {
    expect(tagsOf({ '': 'x' }).told).to.deep.equal([['invalid-key', '', undefined]])
  })

  describe('that meet in one key', () => {
    it('C17: do not meet where only the characters look alike', () => {
      expect(tagsOf({ 'a.b': '1', 'a-b': '2' }).tags).to.deep.equal({ a_b: '1', 'a-b': '2' })
    })

    it('leave it to the one that needed no change, and give the others a suffix', () => {
      const { told, tags } = tagsOf({ 'a.b': '1', a_b: '2', 'a/b': '3' })
      const [dotted, slashed] = ['a.b', 'a/b'].map((label) => hashedKey('a_b', label)) as [string, string]

      expect(tags).to.deep.equal({ a_b: '2', [dotted]: '1', [slashed]: '3' })
      expect(told).to.have.deep.members([
        ['changed-key', 'a.b', dotted],
        ['changed-key', 'a/b', slashed],
      ])
      expect(dotted).to.match(/^a_b_[a-z2-7]{8}$/)
    })

    it('else leave it to the first in order, whatever the order of the wish', () => {
      for (const wish of [
        { 'a.b': '1', 'a/b': '2' },
        { 'a/b': '2', 'a.b': '1' },
      ]) {
        expect(tagsOf(wish).tags).to.deep.equal({ a_b: '1', [hashedKey('a_b', 'a/b')]: '2' })
      }
    })

    it('stay within the limit with their suffix', () => {
      const [first, second] = [`${'p'.repeat(70)}/a`, `${'p'.repeat(70)}/b`]

      const keys = Object.keys(tagsOf({ [first]: '1', [second]: '2' }).tags)

      expect(keys.map((key) => key.length)).to.deep.equal([63, 63])
      expect(keys).to.include(`${'p'.repeat(54)}${hashedKey('', second)}`)
    })

    it('say so where even that is taken', () => {
      const suffixed = hashedKey('a_b', 'a.b')

      expect(tagsOf({ a_b: '1', [suffixed]: '2', 'a.b': '3' }).told).to.deep.equal([['collision', 'a.b', undefined]])
    })

    it('have a suffix that no release may change', () => {
      expect(hashedKey('app_kubernetes_io_name', 'app.kubernetes.io/name')).to.equal('app_kubernetes_io_name_ohnpummo')
    })
  })

  it('are at most 64; the first in order of the key stay', () => {
    const wish = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`K${String(i).padStart(2, '0')}`, 'x']))

    const { tags, told } = tagsOf(wish)

    expect(Object.keys(tags)).to.have.length(64)
    expect(Object.keys(tags).at(-1)).to.equal('k63')
    expect(told.filter(([kind]) => kind === 'over-limit').map(([, label]) => label)).to.deep.equal(
      Array.from({ length: 6 }, (_, i) => `K${64 + i}`),
    )
  })

  it('are always legal, and every label is there under some key or said to be left out', () => {
    fc.assert(
      fc.property(fc.oneof(labelWish, freeWish), (wish) => {
        const { problems, tags } = normalize(wish)

        for (const [key, value] of tags) {
          expect(key).to.match(legalKey)
          expect(value).to.match(legalValue)
          expect(Buffer.byteLength(key)).to.be.at.most(128)
          expect(Buffer.byteLength(value)).to.be.at.most(128)
        }
        const dropped = problems.filter(({ tag }) => tag === undefined).length
        expect(tags.size + dropped).to.equal(wish.size)
      }),
    )
  })
})
