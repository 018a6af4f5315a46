import { expect } from 'chai'
import { FakeClock } from '../fake-clock.ts'
import { GcpFake } from './gcp-fake.ts'
import { plainClient, type PlainAnswer, type PlainClient } from './plain-client.ts'

const zone = 'projects/p/zones/z-a'
const region = 'projects/p/regions/z'

describe('the Compute Engine fake', () => {
  let fake: GcpFake
  let client: PlainClient
  let clock: FakeClock

  beforeEach(async () => {
    clock = new FakeClock()
    fake = await GcpFake.start({ clock })
    client = plainClient(fake)
  })

  afterEach(() => fake.close())

  const addMany = (count: number, parent = zone) => {
    for (let i = 0; i < count; i++) fake.addDisk(`${parent}/disks/d-${String(i).padStart(4, '0')}`)
  }
  const told = ({ reason, status }: PlainAnswer) => [status, reason]

  describe('disks.get', () => {
    it('shows labels and fingerprint, of zonal and regional disks apart', async () => {
      fake.addDisk(`${zone}/disks/d`, { labels: { a: 'zonal' } })
      fake.addDisk(`${region}/disks/d`, { labels: { a: 'regional' } })

      const [zonal, regional] = [await client.get(`${zone}/disks/d`), await client.get(`${region}/disks/d`)]

      expect(zonal.body).to.deep.include({
        name: 'd',
        labels: { a: 'zonal' },
        labelFingerprint: fake.fingerprintOf(`${zone}/disks/d`),
      })
      expect(regional.body.labels).to.deep.equal({ a: 'regional' })
    })

    it('has no labels at all where there are none, but a fingerprint', async () => {
      fake.addDisk(`${zone}/disks/d`)

      const { body } = await client.get(`${zone}/disks/d`)

      expect(body).not.to.have.property('labels')
      expect(body.labelFingerprint).to.equal('42WmSpB8rSM=')
    })

    it('does not find what is not there, elsewhere, removed, or too young', async () => {
      fake.addDisk(`${zone}/disks/removed`)
      fake.removeDisk(`${zone}/disks/removed`)
      fake.addDisk(`${zone}/disks/young`, { visibleAfterMs: 1000 })
      fake.addDisk('projects/p/zones/z-b/disks/elsewhere')

      for (const name of ['missing', 'removed', 'young', 'elsewhere']) {
        expect(told(await client.get(`${zone}/disks/${name}`))).to.deep.equal([404, 'notFound'])
      }
      await clock.step(1000)
      expect((await client.get(`${zone}/disks/young`)).status).to.equal(200)
    })

    it('finds everything when it was told so', async () => {
      fake.adoptUnknownDisks(true)

      expect((await client.get(`${zone}/disks/new`)).status).to.equal(200)
    })
  })

  describe('disks.setLabels', () => {
    const id = `${zone}/disks/d`

    beforeEach(() => fake.addDisk(id, { labels: { foreign: 'x', old: '1' } }))

    it('replaces all labels, and answers with an operation that knows no fingerprint', async () => {
      const { body, status } = await client.setLabels(id, { foreign: 'x', new: '2' })

      expect([status, body.status]).to.deep.equal([200, 'RUNNING'])
      expect(body).not.to.have.property('labelFingerprint')
      expect(fake.labelsOf(id)).to.deep.equal({ foreign: 'x', new: '2' })
    })

    it('changes the fingerprint with every write, also with one that changes nothing', async () => {
      const seen = [fake.fingerprintOf(id)]
      for (const labels of [{ a: '1' }, { a: '1' }, {}, { a: '1' }]) {
        await client.setLabels(id, labels)
        seen.push(fake.fingerprintOf(id))
      }
      fake.setLabel(id, 'a', '2')
      seen.push(fake.fingerprintOf(id))

      expect(new Set(seen).size).to.equal(seen.length)
    })

    it('refuses an old fingerprint, and a missing one', async () => {
      const old = fake.fingerprintOf(id)
      fake.setLabel(id, 'by', 'hand')

      const answers = [
        await client.setLabels(id, { a: '1' }, old),
        await client.post(`${id}/setLabels`, { labels: { a: '1' } }),
      ]

      expect(answers.map(told)).to.deep.equal([
        [412, 'conditionNotMet'],
        [412, 'conditionNotMet'],
      ])
      expect(fake.labelsOf(id)).to.include({ by: 'hand' })
    })

    for (const [what, labels] of [
      ['a key in upper case', { Team: 'x' }],
      ['a key with a dot', { 'a.b': 'x' }],
      ['a key that begins with a digit', { '1a': 'x' }],
      ['an empty key', { '': 'x' }],
      ['a key of 64 characters', { ['k'.repeat(64)]: 'x' }],
      ['a key of 129 bytes', { ['東'.repeat(43)]: 'x' }],
      ['a value in upper case', { team: 'X' }],
      ['a value of 64 characters', { team: 'v'.repeat(64) }],
      ['65 labels', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'x']))],
    ] as const) {
      it(`refuses ${what}, with nothing done`, async () => {
        expect(told(await client.setLabels(id, { ...labels, good: 'x' }))).to.deep.equal([400, 'invalid'])
        expect(fake.labelsOf(id)).to.deep.equal({ foreign: 'x', old: '1' })
      })
    }

    it('takes letters of every script, empty values and 64 labels', async () => {
      const labels = Object.fromEntries(Array.from({ length: 62 }, (_, i) => [`k${i}`, '']))

      const { status } = await client.setLabels(id, { ...labels, größe: 'straße', 名前: '東京' })

      expect(status).to.equal(200)
    })

    it('refuses a disk that was denied, until it is allowed', async () => {
      fake.deny([id])
      const denied = await client.setLabels(id, { a: '1' })
      fake.allow([id])
      const allowed = await client.setLabels(id, { a: '1' })

      expect([told(denied), told(allowed)]).to.deep.equal([
        [403, 'forbidden'],
        [200, undefined],
      ])
    })

    it('fills a disk so that not one label more can be added', async () => {
      fake.fill(id)
      const full = fake.labelsOf(id)

      const more = await client.setLabels(id, { ...full, more: 'x' })
      const other = await client.setLabels(id, { ...full, 'foreign-0': 'y' })

      expect([told(more), other.status]).to.deep.equal([[400, 'invalid'], 200])
    })

    it('takes effect when its operation is done, and the disk is not ready meanwhile', async () => {
      fake.operationsLast(5000)
      await client.setLabels(id, { a: '1' })
      const second = await client.setLabels(id, { a: '2' })
      const meanwhile = fake.labelsOf(id)

      await clock.step(5000)

      expect(told(second)).to.deep.equal([400, 'resourceNotReady'])
      expect([meanwhile, fake.labelsOf(id)]).to.deep.equal([{ foreign: 'x', old: '1' }, { a: '1' }])
    })

    it('has operations that can be asked for', async () => {
      const { body } = await client.setLabels(id, { a: '1' })
      const operation = await client.get(`${zone}/operations/${body.name}`)

      expect(operation.body.status).to.equal('DONE')
      expect(fake.count('zoneOperations.get').calls).to.equal(1)
    })

    it('refuses a body that is no JSON', async () => {
      const response = await fetch(`${fake.url}/compute/v1/${id}/setLabels`, { method: 'POST', body: '{' })

      expect(response.status).to.equal(400)
    })
  })

  describe('disks.list', () => {
    const pages = async (query: string, parent = zone) => {
      const found: string[][] = []
      let token: string | undefined
      do {
        const { body } = await client.get(`${parent}/disks?${query}${token === undefined ? '' : `&pageToken=${token}`}`)
        found.push((body.items ?? []).map(({ name }) => name))
        token = body.nextPageToken
      } while (token !== undefined)
      return found
    }

    it('has 500 on a page, in order of names, and no token on the last', async () => {
      addMany(1000)

      const found = await pages('')

      expect(found.map((page) => page.length)).to.deep.equal([500, 500])
      expect(found.flat()).to.deep.equal(found.flat().toSorted())
    })

    it('has fewer on a page when asked to, and refuses more', async () => {
      addMany(5)

      expect((await pages('maxResults=2')).map((page) => page.length)).to.deep.equal([2, 2, 1])
      expect(told(await client.get(`${zone}/disks?maxResults=501`))).to.deep.equal([400, 'invalid'])
    })

    it('lists one zone or region only, and nothing as nothing', async () => {
      addMany(2)
      addMany(3, region)

      expect((await pages('', region)).flat()).to.have.length(3)
      expect((await client.get('projects/p/zones/z-b/disks')).body).not.to.have.property('items')
    })

    it('goes on where it was, though disks come and go', async () => {
      addMany(6)
      const first = await client.get(`${zone}/disks?maxResults=3`)
      fake.removeDisk(`${zone}/disks/d-0002`)
      fake.addDisk(`${zone}/disks/d-0000a`)

      const second = await client.get(`${zone}/disks?pageToken=${first.body.nextPageToken}`)

      expect(second.body.items?.map(({ name }) => name)).to.deep.equal(['d-0003', 'd-0004', 'd-0005'])
    })

    for (const [filter, found] of [
      ['labels.team=core', ['a', 'b']],
      ['labels.team="core"', ['a', 'b']],
      ['labels.team!=core', ['c']],
      ['labels.tier:*', ['b']],
      ['name=c', ['c']],
      ['labels.team=core AND labels.tier=db', ['b']],
      ['(labels.team = core) (labels.tier = db)', ['b']],
    ] as const) {
      it(`understands the filter ${filter}`, async () => {
        fake.addDisk(`${zone}/disks/a`, { labels: { team: 'core' } })
        fake.addDisk(`${zone}/disks/b`, { labels: { team: 'core', tier: 'db' } })
        fake.addDisk(`${zone}/disks/c`)

        expect((await pages(`filter=${encodeURIComponent(filter)}`)).flat()).to.deep.equal(found)
      })
    }

    it('refuses a filter and a token that it does not understand', async () => {
      expect(told(await client.get(`${zone}/disks?filter=size>10`))).to.deep.equal([400, 'invalid'])
      expect(told(await client.get(`${zone}/disks?pageToken=x`))).to.deep.equal([400, 'invalid'])
    })
  })

  describe('disks.aggregatedList', () => {
    it('pages through all zones and regions, with a warning for those that have nothing on a page', async () => {
      addMany(3)
      addMany(2, region)
      fake.addDisk('projects/other/zones/z-a/disks/foreign')

      const first = await client.get('projects/p/aggregated/disks?maxResults=4')
      const second = await client.get(
        `projects/p/aggregated/disks?maxResults=4&pageToken=${first.body.nextPageToken ?? ''}`,
      )

      const shape = ({ body }: PlainAnswer) =>
        Object.entries((body.items ?? {}) as unknown as Record<string, AggregatedScope>).map(
          ([scope, { disks, warning }]) => [scope, disks?.length ?? warning?.code],
        )
      expect(shape(first)).to.deep.equal([
        ['regions/z', 2],
        ['zones/z-a', 2],
      ])
      expect(shape(second)).to.deep.equal([
        ['regions/z', 'NO_RESULTS_ON_PAGE'],
        ['zones/z-a', 1],
      ])
      expect(second.body).not.to.have.property('nextPageToken')
    })
  })

  describe('a partial answer', () => {
    for (const [fields, want] of [
      ['items(name,labels),nextPageToken', { items: [{ name: 'd', labels: { a: '1' } }] }],
      ['items/name', { items: [{ name: 'd' }] }],
      ['items.labels', { items: [{ labels: { a: '1' } }] }],
      ['kind,items/name,items/labels', { kind: 'compute#diskList', items: [{ name: 'd', labels: { a: '1' } }] }],
    ] as const) {
      it(`holds what was asked for: ${fields}`, async () => {
        fake.addDisk(`${zone}/disks/d`, { labels: { a: '1' } })

        const byHeader = await client.get(`${zone}/disks`, { 'X-Goog-FieldMask': fields })
        const byQuery = await client.get(`${zone}/disks?fields=${fields}`)

        expect([byHeader.body, byQuery.body]).to.deep.equal([want, want])
      })
    }

    it('of an aggregated list goes through every scope', async () => {
      fake.addDisk(`${zone}/disks/d`, { labels: { a: '1' } })

      const { body } = await client.get('projects/p/aggregated/disks?fields=items/*/disks(name)')

      expect(body).to.deep.equal({ items: { 'zones/z-a': { disks: [{ name: 'd' }] } } })
    })
  })

  describe('enforcing quota', () => {
    it('lets 1,500 calls of a kind through in each minute of the clock, by project', async () => {
      fake.addDisk(`${zone}/disks/d`)
      fake.enforceQuota(true)
      const readMany = async (count: number, path = `${zone}/disks/d`) => {
        const answers = await Promise.all(Array.from({ length: count }, () => client.get(path)))
        return answers.filter(({ status }) => status !== 403).length
      }

      const first = await readMany(1510)
      const others = [await readMany(1, `${zone}/disks`), await readMany(1, 'projects/other/zones/z/disks/d')]
      await clock.step(59_000)
      const stillFirst = await readMany(1)
      await clock.step(1000)
      const next = await readMany(1)

      expect([first, others, stillFirst, next]).to.deep.equal([1500, [1, 1], 0, 1])
      expect(fake.count('disks.get').throttled).to.equal(11)
    })
  })
})

interface AggregatedScope {
  readonly disks?: readonly object[]
  readonly warning?: { readonly code: string }
}
