import { expect } from 'chai'
import { AzureFake } from './azure-fake.ts'
import { controlRoute, numberedDiskId } from './control.ts'

const id = numberedDiskId(1)

describe('the Azure fake, steered from another process', () => {
  let fake: AzureFake

  beforeEach(async () => {
    fake = await AzureFake.start()
    fake.extraRoute = controlRoute(fake)
  })

  afterEach(() => fake.close())

  async function get(path: string): Promise<unknown> {
    return (await fetch(`${fake.url}/_fake/${path}`)).json()
  }

  async function post(path: string, body: object): Promise<number> {
    return (await fetch(`${fake.url}/_fake/${path}`, { method: 'POST', body: JSON.stringify(body) })).status
  }

  async function merge(disk = id): Promise<number> {
    const path = `${disk}/providers/Microsoft.Resources/tags/default?api-version=2025-04-01`
    const body = JSON.stringify({ operation: 'Merge', properties: { tags: { a: '1' } } })
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' }
    return (await fetch(`${fake.url}${path}`, { method: 'PATCH', headers, body })).status
  }

  it('adds and removes disks, and shows their tags', async () => {
    await post('disks', { add: [{ id: numberedDiskId(9), tags: { a: '1' } }, { id: numberedDiskId(8) }], count: 3 })
    await post('disks', { remove: [numberedDiskId(8)] })

    expect(await get(`state?ids=${numberedDiskId(9)},${numberedDiskId(8)}`)).to.deep.include({
      diskCount: 4,
      disks: {
        [numberedDiskId(9)]: { tags: { a: '1' }, changedAtMs: fake.changedAtMs(numberedDiskId(9)) },
        [numberedDiskId(8)]: null,
      },
    })
  })

  it('changes tags by hand, without a call', async () => {
    await post('tags', { id, set: { a: '1', b: '2' } })
    await post('tags', { id, remove: ['B'] })

    expect(fake.tagsOf(id)).to.deep.equal({ a: '1' })
    expect(fake.counts()).to.deep.equal({})
  })

  it('injects faults, sets conditions and takes them back', async () => {
    await post('disks', { add: [{ id }] })
    await post('faults', { fault: { kind: 'throttle' }, operation: 'MergeTags', times: 'always', deny: [id] })
    const throttled = [await merge(), await merge()]
    await post('faults', { clear: true })
    const denied = await merge()
    await post('faults', { allow: [id], lock: [id] })
    const locked = await merge()
    await post('faults', { unlock: [id], acceptWrites: false })
    const done = await merge()
    await post('faults', { acceptWrites: true, adoptUnknown: true })
    const adopted = await merge(numberedDiskId(77))

    expect([throttled, denied, locked, done, adopted]).to.deep.equal([[429, 429], 403, 409, 200, 202])
  })

  it('shows counts and calls, and forgets them', async () => {
    await post('disks', { add: [{ id }] })
    await merge()
    const { counts } = (await get('state')) as { counts: object }
    const { calls } = (await get('calls?operation=MergeTags')) as { calls: object[] }
    await post('reset', {})

    expect(counts).to.deep.equal({ MergeTags: { calls: 1, throttled: 0, failed: 0 } })
    expect(calls[0]).to.deep.include({ operation: 'MergeTags', disk: id, outcome: 'ok' })
    expect(fake.counts()).to.deep.equal({})
  })

  it('refuses what it does not understand', async () => {
    const broken = await fetch(`${fake.url}/_fake/tags`, { method: 'POST', body: '{' })

    expect([await post('nothing', {}), broken.status]).to.deep.equal([404, 400])
  })
})
