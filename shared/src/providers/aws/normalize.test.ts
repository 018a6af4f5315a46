import { expect } from 'chai'
import * as fc from 'fast-check'
import { ownForm } from '../../tags/tag-form.ts'
import { normalize } from './normalize.ts'
import { isProtectedKey } from './protected-keys.ts'

const tagsOf = (desired: Readonly<Record<string, string>>, allowedKeys = ownForm.allowedKeys) => {
  const form = { ...ownForm, allowedKeys }
  const { problems, tags } = normalize(new Map(Object.entries(desired)), { form })
  return { tags: Object.fromEntries(tags), problems }
}

const longKey = `${'a'.repeat(120)}.example.com/${'b'.repeat(60)}`

describe('AWS tags', () => {
  for (const [id, key, value] of [
    ['', 'app.kubernetes.io/name', 'web'],
    ['', 'helm.sh/chart', 'web-1.2.3'],
    ['', 'topology.kubernetes.io/zone', 'eu-west-1a'],
    ['C1: ', 'awstest', 'x'],
    ['C1: ', 'aws-test', 'x'],
    ['C1: ', 'AWStest', 'x'],
    ['', 'eks-nodegroup', 'x'],
    ['', 'name', 'x'],
    ['C1: ', 'list', 'flopsy;mopsy;cotton-tail'],
    ['C4: ', 'list', 'a=1,b=2'],
    ['C6: ', 'First Name', 'Ada Löwe 🦁'],
    ['C9: ', 'my_company/my_object', 'something/1-2-3'],
    ['', 'empty', ''],
    ['', '__proto__', 'x'],
    ['', 'k'.repeat(128), 'v'.repeat(256)],
    ['', '🦁'.repeat(128), '🦁'.repeat(256)],
  ] as const) {
    it(`${id}are written as they are: ${key.slice(0, 30)}=${value.slice(0, 30)}`, () => {
      const { problems, tags } = normalize(new Map([[key, value]]))

      expect([...tags]).to.deep.equal([[key, value]])
      expect(problems).to.deep.equal([])
    })
  }

  for (const [id, key] of [
    ['C1', 'aws:x'],
    ['E3', 'AWS:cloudformation:stack-name'],
    ['E3', 'Aws:x'],
    ['E10', 'CSIVolumeName'],
    ['E10', 'ebs.csi.aws.com/cluster'],
    ['E9, F5', 'ebs.csi.aws.com/cluster-name'],
    ['E9', 'kubernetes.io/cluster/prod'],
    ['E9', 'kubernetes.io/created-for/pvc/name'],
    ['E9', 'KubernetesCluster'],
    ['C12', 'Name'],
    ['E9', 'eks:cluster-name'],
  ] as const) {
    it(`${id}: leave out a protected key and say so: ${key}`, () => {
      const { problems, tags } = tagsOf({ [key]: 'x', team: 'core' })

      expect(tags).to.deep.equal({ team: 'core' })
      expect(problems.map(({ kind, label, tag }) => [kind, label, tag])).to.deep.equal([
        ['protected-key', key, undefined],
      ])
    })
  }

  it('C12: hold a protected key that the user asked for by name, but never one of AWS', () => {
    const optedIn = new Set(['Name', 'aws:x'])

    const { tags } = tagsOf({ Name: 'db-data', 'aws:x': '1', KubernetesCluster: 'x' }, optedIn)

    expect(tags).to.deep.equal({ Name: 'db-data' })
    expect(isProtectedKey('Name', optedIn)).to.equal(false)
  })

  it('shorten a key of more than 128 characters by a hash of it', () => {
    const { problems, tags } = tagsOf({ [longKey]: 'x' })

    const [key = ''] = Object.keys(tags)
    expect(key).to.have.length(128)
    expect(key).to.match(new RegExp(`^${longKey.slice(0, 117)}~[a-z2-7]{10}$`))
    expect(problems.map(({ kind, label, tag }) => [kind, label, tag])).to.deep.equal([['changed-key', longKey, key]])
  })

  it('keep that hash from release to release', () => {
    const { tags } = tagsOf({ ['x'.repeat(129)]: '1' })

    expect(Object.keys(tags)).to.deep.equal([`${'x'.repeat(117)}~b3e6wm7hiu`])
  })

  it('tell two long keys apart that begin alike', () => {
    const { tags } = tagsOf({ [`${longKey}1`]: '1', [`${longKey}2`]: '2' })

    expect(Object.values(tags)).to.have.members(['1', '2'])
  })

  it('let the label that needs no change win where two meet, whatever the order', () => {
    const [short = ''] = Object.keys(tagsOf({ [longKey]: 'x' }).tags)
    const entries = [
      [longKey, 'shortened'],
      [short, 'as it is'],
    ] as const

    for (const order of [entries, entries.toReversed()]) {
      const { problems, tags } = normalize(new Map(order))

      expect([...tags]).to.deep.equal([[short, 'as it is']])
      expect(problems.map(({ kind, label, tag }) => [kind, label, tag])).to.deep.equal([
        ['collision', longKey, undefined],
      ])
    }
  })

  it('cut a value of more than 256 characters without leaving half of one', () => {
    const { problems, tags } = tagsOf({ note: '🦁'.repeat(300) })

    expect(tags['note']).to.equal('🦁'.repeat(256))
    expect(problems.map(({ kind, tag }) => [kind, tag])).to.deep.equal([['changed-value', 'note']])
  })

  for (const [when, key, value, kind] of [
    ['a line break in a value', 'note', 'a\nb', 'invalid-value'],
    ['half a character', 'note', 'a\ud800', 'invalid-value'],
    ['what XML cannot carry', 'note', 'a\uffff', 'invalid-value'],
    ['a value that AWS keeps for itself', 'note', 'AWS:x', 'invalid-value'],
    ['a control character in a key', 'no\u0000te', 'x', 'invalid-key'],
    ['an empty key', '', 'x', 'invalid-key'],
  ] as const) {
    it(`leave out ${when}, and only that`, () => {
      const { problems, tags } = tagsOf({ [key]: value, team: 'core' })

      expect(tags).to.deep.equal({ team: 'core' })
      expect(problems.map((problem) => problem.kind)).to.deep.equal([kind])
    })
  }

  it('are at most 50, the first in order of their keys, whatever the order of the wish', () => {
    const entries = Array.from({ length: 60 }, (_, i) => [`key-${String(i).padStart(2, '0')}`, 'x'] as const)

    for (const order of [entries, entries.toReversed()]) {
      const { problems, tags } = normalize(new Map(order))

      expect([...tags.keys()]).to.deep.equal(entries.slice(0, 50).map(([key]) => key))
      expect(problems.map(({ kind, label }) => [kind, label])).to.deep.equal(
        entries.slice(50).map(([key]) => ['over-limit', key]),
      )
    }
  })

  it('always fit into EC2, and stay as they are when normalised again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.stringMatching(/^[a-zA-Z0-9._/-]{0,317}$/),
      fc.constantFrom('Name', 'aws:x', 'kubernetes.io/x', longKey),
    )

    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 80 }), (entries) => {
        const desired = new Map(entries)

        const { problems, tags } = normalize(desired)

        expect(tags.size).to.be.at.most(50)
        for (const [key, value] of tags) {
          expect(Array.from(key).length).to.be.within(1, 128)
          expect(Array.from(value).length).to.be.at.most(256)
          expect(isProtectedKey(key)).to.equal(false)
          expect(/\p{Cc}/u.test(key + value)).to.equal(false)
        }
        const dropped = problems.filter(({ tag }) => tag === undefined)
        expect(tags.size + dropped.length).to.equal(desired.size)
        expect(normalize(tags)).to.deep.equal({ tags, problems: [] })
      }),
    )
  })
})
