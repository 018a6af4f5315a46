import { expect } from 'chai'
import { controlRoute, numberedDiskId } from './control.ts'
import { GcpFake } from './gcp-fake.ts'
import { plainClient } from './plain-client.ts'

const [one, two] = [numberedDiskId(1), numberedDiskId(2)] as [string, string]

describe('the Compute Engine fake, steered from another process', () => {
  let fake: GcpFake

  beforeEach(async () => {
    fake = await GcpFake.start()
    fake.extraRoute = controlRoute(fake)
  })

  afterEach(() => fake.close())

  async function get(path: string): Promise<unknown> {
    return (await fetch(`${fake.url}/_fake/${path}`)).json()
  }

  async function post(path: string, body: object): Promise<number> {
    return (await fetch(`${fake.url}/_fake/${path}`, { method: 'POST', body: JSON.stringify(body) })).status
  }

  const write = async () => (await plainClient(fake).setLabels(one, { a: '1' })).status

  it('adds and removes disks, and shows their labels', async () => {
    await post('disks', { add: [{ id: 'projects/p/zones/z/disks/d', labels: { a: '1' } }], count: 3 })
    await post('disks', { remove: [two] })

    expect(await get(`state?ids=projects/p/zones/z/disks/d,${two},${numberedDiskId(3)}`)).to.deep.include({
      diskCount: 3,
      disks: {
        'projects/p/zones/z/disks/d': {
          labels: { a: '1' },
          changedAtMs: fake.changedAtMs('projects/p/zones/z/disks/d'),
        },
        [two]: null,
        'projects/fake-project/regions/europe-west4/disks/pvc-0000003': {
          labels: { 'goog-gke-volume': '', 'goog-k8s-cluster-name': 'demo' },
          changedAtMs: fake.changedAtMs(numberedDiskId(3)),
        },
      },
    })
  })

  it('changes labels by hand, without a call', async () => {
    await post('labels', { id: one, set: { a: '1', b: '2' } })
    await post('labels', { id: one, remove: ['b'] })

    expect(fake.labelsOf(one)).to.deep.equal({ a: '1' })
    expect(fake.counts()).to.deep.equal({})
  })

  it('injects faults, sets conditions and takes them back', async () => {
    await post('disks', { count: 1 })
    await post('faults', { fault: { kind: 'throttle' }, operation: 'disks.setLabels', times: 'always', deny: [one] })
    const throttled = [await write(), await write()]
    await post('faults', { clear: true })
    const denied = await write()
    await post('faults', { allow: [one] })

    expect([throttled, denied, await write()]).to.deep.equal([[403, 403], 403, 200])
    expect(fake.calls().map(({ outcome }) => outcome)).to.deep.equal([
      'rateLimitExceeded',
      'rateLimitExceeded',
      'forbidden',
      'ok',
    ])
  })

  it('shows counts and calls, and forgets them', async () => {
    await post('disks', { count: 1 })
    await write()
    const { counts } = (await get('state')) as { counts: object }
    const { calls } = (await get('calls?operation=disks.setLabels')) as { calls: object[] }
    await post('reset', {})

    expect(counts).to.deep.equal({ 'disks.setLabels': { calls: 1, throttled: 0, failed: 0 } })
    expect(calls[0]).to.deep.include({ operation: 'disks.setLabels', disk: one, outcome: 'ok' })
    expect(fake.counts()).to.deep.equal({})
  })

  it('refuses what it does not understand', async () => {
    const broken = await fetch(`${fake.url}/_fake/labels`, { method: 'POST', body: '{' })

    expect([await post('nothing', {}), broken.status]).to.deep.equal([404, 400])
  })
})
