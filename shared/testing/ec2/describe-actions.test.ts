import {
  DescribeTagsCommand,
  DescribeVolumesCommand,
  type DescribeVolumesCommandInput,
  type EC2Client,
} from '@aws-sdk/client-ec2'
import { expect } from 'chai'
import { FakeClock } from '../fake-clock.ts'
import { Ec2Fake } from './ec2-fake.ts'
import { ec2Client, refusalOf } from './sdk.ts'

describe('the EC2 fake, describing', () => {
  let ec2: Ec2Fake
  let client: EC2Client
  const clock = new FakeClock()

  beforeEach(async () => {
    ec2 = await Ec2Fake.start({ clock })
    client = ec2Client(ec2)
  })

  afterEach(async () => {
    client.destroy()
    await ec2.close()
  })

  async function ids(input: DescribeVolumesCommandInput): Promise<(string | undefined)[]> {
    const { Volumes } = await client.send(new DescribeVolumesCommand(input))
    return (Volumes ?? []).map(({ VolumeId }) => VolumeId)
  }

  async function refusal(input: DescribeVolumesCommandInput): Promise<string> {
    return refusalOf(client.send(new DescribeVolumesCommand(input)))
  }

  function addVolumes(count: number): string[] {
    const added = Array.from({ length: count }, (_, i) => `vol-${i}`)
    for (const id of added) ec2.addVolume(id, { tags: { n: id } })
    return added
  }

  it('reads volumes by id with all their tags, whatever the characters', async () => {
    ec2.addVolume('vol-1', { tags: { odd: ' <a href="x">&amp;\'ö😀 ', empty: '' } })
    ec2.addVolume('vol-2')

    const { Volumes } = await client.send(new DescribeVolumesCommand({ VolumeIds: ['vol-1', 'vol-2'] }))

    expect(Volumes?.map(({ Tags }) => Tags)).to.deep.equal([
      [
        { Key: 'odd', Value: ' <a href="x">&amp;\'ö😀 ' },
        { Key: 'empty', Value: '' },
      ],
      undefined,
    ])
  })

  it('fails the whole call for one missing id, and names the missing ones', async () => {
    ec2.addVolume('vol-1')

    expect(await refusal({ VolumeIds: ['vol-1', 'vol-8'] })).to.equal(
      "400 InvalidVolume.NotFound: The volume 'vol-8' does not exist.",
    )
    expect(await refusal({ VolumeIds: ['vol-8', 'vol-1', 'vol-9'] })).to.equal(
      "400 InvalidVolume.NotFound: The volumes 'vol-8, vol-9' do not exist.",
    )
  })

  it('names nobody in that error when it was told so', async () => {
    ec2.messages({ namesMissing: false })

    expect(await refusal({ VolumeIds: ['vol-8'] })).not.to.include('vol-8')
  })

  it('takes 500 ids a call and no more, and no page size beside them', async () => {
    const all = addVolumes(501)

    expect(await ids({ VolumeIds: all.slice(1) })).to.have.length(500)
    expect(await refusal({ VolumeIds: all })).to.match(/^400 InvalidParameterValue/)
    expect(await refusal({ VolumeIds: ['vol-1'], MaxResults: 500 })).to.match(/^400 InvalidParameterCombination/)
    expect(await refusal({ VolumeIds: ['i-123'] })).to.match(/^400 InvalidVolumeID.Malformed/)
  })

  it('pages in order, at most 500 a page even where more is asked', async () => {
    const all = addVolumes(1_003)

    const pages: (string | undefined)[][] = []
    let token: string | undefined
    do {
      const page = await client.send(
        new DescribeVolumesCommand({ MaxResults: 1000, ...(token !== undefined && { NextToken: token }) }),
      )
      pages.push((page.Volumes ?? []).map(({ VolumeId }) => VolumeId))
      token = page.NextToken
    } while (token !== undefined)

    expect(pages.map((page) => page.length)).to.deep.equal([500, 500, 3])
    expect(pages.flat()).to.deep.equal(all)
  })

  it('goes on in the right place when volumes come and go between pages', async () => {
    addVolumes(20)

    const first = await client.send(new DescribeVolumesCommand({ MaxResults: 10 }))
    ec2.removeVolume('vol-3')
    ec2.removeVolume('vol-12')
    ec2.addVolume('vol-99')
    const second = await ids({ MaxResults: 50, NextToken: first.NextToken ?? '' })

    expect(second.slice(0, 3)).to.deep.equal(['vol-10', 'vol-11', 'vol-13'])
    expect(second.at(-1)).to.equal('vol-99')
  })

  it('keeps order and place when most volumes have gone', async () => {
    const all = addVolumes(4_000)
    const first = await client.send(new DescribeVolumesCommand({ MaxResults: 500 }))

    for (const id of all.slice(0, 3_990)) ec2.removeVolume(id)
    ec2.addVolume('vol-new')
    ec2.removeVolume('vol-3999')

    expect(await ids({ MaxResults: 500, NextToken: first.NextToken ?? '' })).to.deep.equal([
      ...all.slice(3_990, 3_999),
      'vol-new',
    ])
    expect(ec2.volumeCount).to.equal(10)
  })

  it('gives everything at once where neither page nor filter is asked for', async () => {
    addVolumes(1_200)

    expect(await ids({})).to.have.length(1_200)
  })

  it('refuses tokens it never gave and pages too small', async () => {
    expect(await refusal({ MaxResults: 10, NextToken: 'x' })).to.match(/^400 InvalidParameterValue/)
    expect(await refusal({ MaxResults: 4 })).to.match(/^400 InvalidParameterValue/)
  })

  it('leaves missing ids out of a volume-id filter, which takes 200 values and no more', async () => {
    const all = addVolumes(201)
    const filter = (values: string[]) => ({ Filters: [{ Name: 'volume-id', Values: values }] })

    expect(await ids(filter(['vol-7', 'vol-missing', 'vol-3']))).to.deep.equal(['vol-3', 'vol-7'])
    expect(await ids(filter(all.slice(0, 200)))).to.have.length(200)
    expect(await refusal(filter(all))).to.match(/^400 FilterLimitExceeded/)
  })

  const filters: readonly (readonly [string, string, string[], string[]])[] = [
    ['a tag value', 'tag:team', ['core'], ['vol-1']],
    ['several values', 'tag:team', ['core', 'web'], ['vol-1', 'vol-2']],
    ['a wildcard', 'tag:team', ['*e*'], ['vol-1', 'vol-2']],
    ['a wildcard for one character', 'tag:team', ['we?'], ['vol-2']],
    ['an escaped wildcard', 'tag:odd', ['\\*'], ['vol-3']],
    ['a key', 'tag-key', ['team'], ['vol-1', 'vol-2']],
    ['a key with a wildcard', 'tag-key', ['kubernetes.io/cluster/*'], ['vol-3']],
    ['ids with a wildcard', 'volume-id', ['vol-*'], ['vol-1', 'vol-2', 'vol-3']],
    ['nothing that exists', 'tag:team', ['Core'], []],
  ]
  for (const [what, name, values, found] of filters) {
    it(`filters by ${what}`, async () => {
      ec2.addVolume('vol-1', { tags: { team: 'core' } })
      ec2.addVolume('vol-2', { tags: { team: 'web' } })
      ec2.addVolume('vol-3', { tags: { odd: '*', 'kubernetes.io/cluster/x': 'owned' } })

      expect(await ids({ Filters: [{ Name: name, Values: values }] })).to.deep.equal(found)
    })
  }

  it('demands every filter at once', async () => {
    ec2.addVolume('vol-1', { tags: { team: 'core', app: 'a' } })
    ec2.addVolume('vol-2', { tags: { team: 'core', app: 'b' } })
    const both = [
      { Name: 'tag:team', Values: ['core'] },
      { Name: 'tag:app', Values: ['b'] },
    ]

    expect(await ids({ Filters: both })).to.deep.equal(['vol-2'])
    expect(await ids({ Filters: both, VolumeIds: ['vol-1', 'vol-2'] })).to.deep.equal(['vol-2'])
  })

  it('hides managed volumes unless they are asked for', async () => {
    ec2.addVolume('vol-1', { managed: true })

    expect(await ids({})).to.deep.equal([])
    expect(await refusal({ VolumeIds: ['vol-1'] })).to.match(/^400 InvalidVolume.NotFound/)
    expect(await ids({ VolumeIds: ['vol-1'], IncludeManagedResources: true })).to.deep.equal(['vol-1'])
  })

  it('pages tags one by one, also within a volume', async () => {
    for (const id of ['vol-1', 'vol-2', 'vol-3']) ec2.addVolume(id, { tags: { a: id, b: id, c: id } })

    const first = await client.send(new DescribeTagsCommand({ MaxResults: 5 }))
    const second = await client.send(new DescribeTagsCommand({ MaxResults: 5, NextToken: first.NextToken }))

    const seen = [...(first.Tags ?? []), ...(second.Tags ?? [])].map(({ ResourceId, Key }) => `${ResourceId} ${Key}`)
    expect(first.Tags).to.have.length(5)
    expect(second.NextToken).to.equal(undefined)
    expect(seen).to.deep.equal(
      ['vol-1', 'vol-2', 'vol-3'].flatMap((id) => ['a', 'b', 'c'].map((key) => `${id} ${key}`)),
    )
  })

  it('does not find a young volume, nor for a while its tags', async () => {
    ec2.consistency({ youngVolumeMs: 1_000 })
    ec2.addVolume('vol-1')
    ec2.addVolume('vol-2', { visibleAfterMs: 0, tagsVisibleAfterMs: 2_000, tags: { a: '1' } })
    const tagged = { Filters: [{ Name: 'tag-key', Values: ['a'] }] }

    const early = [await refusal({ VolumeIds: ['vol-1'] }), await ids({}), await ids(tagged)]
    await clock.step(1_000)
    const later = [await ids({}), await ids(tagged)]
    await clock.step(1_000)
    const last = await ids(tagged)

    expect(early).to.deep.equal(["400 InvalidVolume.NotFound: The volume 'vol-1' does not exist.", ['vol-2'], []])
    expect(later).to.deep.equal([['vol-1', 'vol-2'], []])
    expect(last).to.deep.equal(['vol-2'])
  })

  it('reads behind writes by as much as it was told', async () => {
    ec2.addVolume('vol-1', { tags: { v: '0' } })
    ec2.consistency({ readLagMs: 100 })
    const seen: unknown[] = []
    const look = async () => {
      const { Volumes } = await client.send(new DescribeVolumesCommand({}))
      seen.push(Volumes?.[0]?.Tags?.[0]?.Value)
    }

    ec2.setTag('vol-1', 'v', '1')
    await clock.step(60)
    ec2.setTag('vol-1', 'v', '2')
    await look()
    await clock.step(60)
    await look()
    await clock.step(60)
    await look()

    expect(seen).to.deep.equal(['0', '1', '2'])
    expect(ec2.tagsOf('vol-1')).to.deep.equal({ v: '2' })
  })
})
