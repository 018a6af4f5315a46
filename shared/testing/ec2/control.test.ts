import { expect } from 'chai'
import { controlRoute, numberedVolumeId } from './control.ts'
import { Ec2Fake } from './ec2-fake.ts'

describe('the EC2 fake, steered from another process', () => {
  let ec2: Ec2Fake

  beforeEach(async () => {
    ec2 = await Ec2Fake.start()
    ec2.extraRoute = controlRoute(ec2)
  })

  afterEach(() => ec2.close())

  async function get(path: string): Promise<unknown> {
    return (await fetch(`${ec2.url}/_fake/${path}`)).json()
  }

  async function post(path: string, body: object): Promise<number> {
    return (await fetch(`${ec2.url}/_fake/${path}`, { method: 'POST', body: JSON.stringify(body) })).status
  }

  async function call(form: string): Promise<number> {
    return (await fetch(ec2.url, { method: 'POST', body: form })).status
  }

  const createTags = 'Action=CreateTags&ResourceId.1=vol-1&Tag.1.Key=a&Tag.1.Value=1'

  it('adds and removes volumes, and shows their tags', async () => {
    await post('volumes', { add: [{ id: 'vol-1', tags: { a: '1' } }, { id: 'vol-2' }], count: 3 })
    await post('volumes', { remove: ['vol-2'] })

    expect(await get(`state?ids=vol-1,vol-2,${numberedVolumeId(3)}`)).to.deep.include({
      volumeCount: 4,
      volumes: {
        'vol-1': { tags: { a: '1' }, changedAtMs: ec2.changedAtMs('vol-1') },
        'vol-2': null,
        [numberedVolumeId(3)]: {
          tags: { CSIVolumeName: 'pvc-3', 'ebs.csi.aws.com/cluster': 'true' },
          changedAtMs: ec2.changedAtMs(numberedVolumeId(3)),
        },
      },
    })
  })

  it('changes tags by hand, without a call', async () => {
    await post('tags', { id: 'vol-1', set: { a: '1', b: '2' } })
    await post('tags', { id: 'vol-1', remove: ['b'] })

    expect(ec2.tagsOf('vol-1')).to.deep.equal({ a: '1' })
    expect(ec2.counts()).to.deep.equal({})
  })

  it('injects faults, sets conditions and takes them back', async () => {
    await post('volumes', { add: [{ id: 'vol-1' }] })
    await post('faults', { fault: { kind: 'throttle' }, action: 'CreateTags', times: 'always', deny: ['vol-1'] })
    const throttled = [await call(createTags), await call(createTags)]
    await post('faults', { clear: true })
    const denied = await call(createTags)
    await post('faults', { allow: ['vol-1'] })
    const allowed = await call(createTags)

    expect([throttled, denied, allowed]).to.deep.equal([[503, 503], 403, 200])
  })

  it('shows counts and calls, and forgets them', async () => {
    await post('volumes', { add: [{ id: 'vol-1' }] })
    await call(createTags)
    const { counts } = (await get('state')) as { counts: object }
    const { calls } = (await get('calls?action=CreateTags')) as { calls: object[] }
    await post('reset', {})

    expect(counts).to.deep.equal({ CreateTags: { calls: 1, disks: 1, throttled: 0, failed: 0 } })
    expect(calls[0]).to.deep.include({ action: 'CreateTags', ids: ['vol-1'], outcome: 'ok' })
    expect(ec2.counts()).to.deep.equal({})
  })

  it('refuses what it does not understand', async () => {
    const broken = await fetch(`${ec2.url}/_fake/tags`, { method: 'POST', body: '{' })

    expect([await post('nothing', {}), broken.status]).to.deep.equal([404, 400])
  })
})
