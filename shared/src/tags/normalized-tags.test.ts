import { expect } from 'chai'
import { normalizedTags } from './normalized-tags.ts'
import type { CloudRules, TagShape } from './normalized-tags.ts'

const rules: CloudRules = {
  tagsPerDisk: 3,
  owners: 'the cloud',
  isProtected: (key) => key === 'mine',
  keyFault: (key) => (/[A-Z]/.test(key) ? 'no capitals' : undefined),
  valueFault: (value) => (value === 'bad' ? 'a bad value' : undefined),
}
const lower: TagShape = { key: (label) => label.toLowerCase(), value: (value) => value }

function normalized(
  wish: Readonly<Record<string, string>>,
  { shape = lower, enforced = [] as readonly string[], cloud = rules } = {},
) {
  const { problems, tags } = normalizedTags(new Map(Object.entries(wish)), {
    rules: cloud,
    shape,
    enforced: new Set(enforced),
  })
  return { tags: [...tags], told: problems.map(({ label, message }) => `${label}: ${message}`) }
}

describe('tags in the form of a cloud', () => {
  it('say why they are not what was wished, in the words of the cloud, and what they became', () => {
    expect(normalized({ Team: 'core', env: 'bad', mine: 'x' })).to.deep.equal({
      tags: [['team', 'core']],
      told: [
        'env: a bad value; it was left out',
        'mine: the key belongs to the cloud; it was left out',
        'Team: no capitals; it became team',
      ],
    })
  })

  it('say so where it is an earlier tool that asks for it', () => {
    const shape = {
      key: (label: string) => `${label}_`,
      value: (value: string) => `${value}!`,
      habit: '0.4 wrote it so',
    }

    expect(normalized({ team: 'core' }, { shape }).told).to.deep.equal([
      'team: 0.4 wrote it so; it became team_',
      'team: 0.4 wrote it so; the value became core!',
    ])
  })

  it('go to the label that needed no change, then to the first', () => {
    expect(normalized({ APP: '1', App: '2', app: '3' })).to.deep.equal({
      tags: [['app', '3']],
      told: ['APP: the same tag as app; it was left out', 'App: the same tag as app; it was left out'],
    })
    expect(normalized({ App: '2', APP: '1' }).tags).to.deep.equal([['app', '1']])
  })

  it('go to the last label where the form says so', () => {
    expect(normalized({ APP: '1', Zone: '2', zone: '3' }, { shape: { ...lower, winner: 'last' } }).tags).to.deep.equal([
      ['app', '1'],
      ['zone', '3'],
    ])
  })

  it('go to an enforced label before all others, and it is the first on a full disk', () => {
    const wish = { app: '1', App: '2', b: 'x', c: 'x', z: 'x' }

    expect(normalized(wish, { enforced: ['App', 'z'] })).to.deep.equal({
      tags: [
        ['app', '2'],
        ['z', 'x'],
        ['b', 'x'],
      ],
      told: [
        'app: the same tag as App; it was left out',
        'App: no capitals; it became app',
        'c: a disk holds 3 tags; it was left out',
      ],
    })
  })

  it('have another key where the form has one to spare, unless that is taken too', () => {
    const shape = { ...lower, spareKey: (key: string) => `${key}2` }

    expect(normalized({ app: '1', App: '2', APP: '3' }, { shape })).to.deep.equal({
      tags: [
        ['app', '1'],
        ['app2', '3'],
      ],
      told: ['App: the same tag as app; it was left out', 'APP: key is taken; it became app2'],
    })
  })

  it('are one for all keys that the cloud takes for one', () => {
    const shape = { ...lower, key: (label: string) => label }
    const cloud = { ...rules, keyFault: () => undefined, canonicalKey: (key: string) => key.toUpperCase() }

    expect(normalized({ app: '1', App: '2' }, { shape, cloud })).to.deep.equal({
      tags: [['App', '2']],
      told: ['app: the same tag as App; it was left out'],
    })
  })
})
