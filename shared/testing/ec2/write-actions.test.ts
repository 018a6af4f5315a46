import { CreateTagsCommand, DeleteTagsCommand, type EC2Client, type Tag } from '@aws-sdk/client-ec2'
import { expect } from 'chai'
import { Ec2Fake } from './ec2-fake.ts'
import { ec2Client, refusalOf } from './sdk.ts'

describe('the EC2 fake, tagging', () => {
  let ec2: Ec2Fake
  let client: EC2Client

  beforeEach(async () => {
    ec2 = await Ec2Fake.start()
    client = ec2Client(ec2)
    ec2.addVolume('vol-1', { tags: { foreign: 'keep' } })
    ec2.addVolume('vol-2')
  })

  afterEach(async () => {
    client.destroy()
    await ec2.close()
  })

  const create = (ids: string[], tags: Tag[], dryRun = false) =>
    client.send(new CreateTagsCommand({ Resources: ids, Tags: tags, DryRun: dryRun }))
  const remove = (ids: string[], tags?: Tag[]) => client.send(new DeleteTagsCommand({ Resources: ids, Tags: tags }))
  const team: Tag[] = [{ Key: 'team', Value: 'core' }]

  it('adds and overwrites on every volume and keeps the rest', async () => {
    ec2.setTag('vol-2', 'team', 'old')

    await create(['vol-1', 'vol-2'], [...team, { Key: 'empty', Value: '' }])

    expect(ec2.tagsOf('vol-1')).to.deep.equal({ foreign: 'keep', team: 'core', empty: '' })
    expect(ec2.tagsOf('vol-2')).to.deep.equal({ team: 'core', empty: '' })
  })

  it('takes a tag without a value for an empty one', async () => {
    await create(['vol-2'], [{ Key: 'team' }])

    expect(ec2.tagsOf('vol-2')).to.deep.equal({ team: '' })
  })

  const refusals: readonly (readonly [string, string[], Tag[], RegExp])[] = [
    [
      'one id that is missing',
      ['vol-1', 'vol-9', 'vol-8'],
      team,
      /^400 InvalidVolume.NotFound: .*'vol-9, vol-8' do not/,
    ],
    ['one id that is no volume', ['vol-1', 'fs-1'], team, /^400 InvalidID: .*fs-1/],
    ['no id', [], team, /^400 MissingParameter/],
    ['no tag', ['vol-1'], [], /^400 MissingParameter/],
    ['too many ids', Array.from({ length: 1_001 }, (_, i) => `vol-${i}`), team, /^400 ResourceCountExceeded/],
    ['a reserved key', ['vol-1'], [...team, { Key: 'AWS:x', Value: '' }], /^400 InvalidParameterValue: .*reserved/],
    ['a reserved value', ['vol-1'], [{ Key: 'x', Value: 'aws:x' }], /^400 InvalidParameterValue: .*reserved/],
    ['an empty key', ['vol-1'], [{ Key: '', Value: 'x' }], /^400 InvalidParameterValue/],
    ['a key twice', ['vol-1'], [...team, ...team], /^400 InvalidParameterValue: Duplicate/],
    ['a key of 129 characters', ['vol-1'], [{ Key: 'k'.repeat(129), Value: '' }], /^400 InvalidParameterValue/],
    ['a value of 257 characters', ['vol-1'], [{ Key: 'k', Value: 'v'.repeat(257) }], /^400 InvalidParameterValue/],
    ['more than 50 user tags', ['vol-2', 'vol-full'], team, /^400 TagLimitExceeded/],
    ['one volume that is denied', ['vol-2', 'vol-denied'], team, /^403 UnauthorizedOperation: (?!.*vol-)/],
  ]
  for (const [what, ids, tags, expected] of refusals) {
    it(`refuses the whole call for ${what}, and tags nothing`, async () => {
      for (const id of ['vol-full', 'vol-denied']) ec2.addVolume(id)
      ec2.fill('vol-full')
      ec2.deny(['vol-denied'])
      const full = ec2.tagsOf('vol-full')

      expect(await refusalOf(create(ids, tags))).to.match(expected)
      expect(['vol-1', 'vol-2', 'vol-denied'].map((id) => ec2.tagsOf(id))).to.deep.equal([{ foreign: 'keep' }, {}, {}])
      expect(ec2.tagsOf('vol-full')).to.deep.equal(full)
    })
  }

  it('counts characters, not UTF-16 units', async () => {
    await create(['vol-2'], [{ Key: '😀'.repeat(128), Value: '😀'.repeat(256) }])

    expect(Object.keys(ec2.tagsOf('vol-2'))).to.have.length(1)
  })

  it('takes 1000 ids, and overwrites on a full volume', async () => {
    const ids = Array.from({ length: 999 }, (_, i) => `vol-x${i}`)
    for (const id of ids) ec2.addVolume(id)
    ec2.fill('vol-1')

    await create([...ids, 'vol-1'], [{ Key: 'foreign', Value: 'new' }])

    expect(ec2.tagsOf('vol-x998')).to.deep.equal({ foreign: 'new' })
    expect(ec2.tagsOf('vol-1')).to.include({ foreign: 'new' })
  })

  it('names the denied volume when it was told so, and lets go of it', async () => {
    ec2.deny(['vol-2'])
    ec2.messages({ namesDenied: true })

    const refused = await refusalOf(create(['vol-2'], team))
    ec2.allow(['vol-2'])
    await create(['vol-2'], team)

    expect(refused).to.include('arn:aws:ec2:eu-west-1:123456789012:volume/vol-2')
    expect(ec2.tagsOf('vol-2')).to.deep.equal({ team: 'core' })
  })

  it('only tells what would happen on a dry run', async () => {
    expect(await refusalOf(create(['vol-2'], team, true))).to.match(/^412 DryRunOperation/)
    expect(await refusalOf(create(['vol-9'], team, true))).to.match(/^400 InvalidVolume.NotFound/)
    expect(ec2.tagsOf('vol-2')).to.deep.equal({})
  })

  const deletions: readonly (readonly [string, Tag[] | undefined, Record<string, string>])[] = [
    ['a tag with its value', [{ Key: 'a', Value: '1' }], { b: '', 'aws:x': 'y' }],
    ['no tag whose value is another', [{ Key: 'a', Value: '2' }], { a: '1', b: '', 'aws:x': 'y' }],
    ['whatever the value, where none is given', [{ Key: 'a' }, { Key: 'b' }], { 'aws:x': 'y' }],
    [
      'an empty value only, where it is empty',
      [
        { Key: 'a', Value: '' },
        { Key: 'b', Value: '' },
      ],
      { a: '1', 'aws:x': 'y' },
    ],
    ['nothing that is not there', [{ Key: 'c' }], { a: '1', b: '', 'aws:x': 'y' }],
    ['every user tag, where no tag is named', undefined, { 'aws:x': 'y' }],
  ]
  for (const [what, tags, left] of deletions) {
    it(`deletes ${what}`, async () => {
      ec2.addVolume('vol-3', { tags: { a: '1', b: '', 'aws:x': 'y' } })

      await remove(['vol-3'], tags)

      expect(ec2.tagsOf('vol-3')).to.deep.equal(left)
    })
  }

  it('deletes nothing when one id is missing, denied or one key reserved', async () => {
    ec2.deny(['vol-2'])

    expect(await refusalOf(remove(['vol-1', 'vol-9'], [{ Key: 'foreign' }]))).to.match(/^400 InvalidVolume.NotFound/)
    expect(await refusalOf(remove(['vol-1', 'vol-2'], [{ Key: 'foreign' }]))).to.match(/^403 UnauthorizedOperation/)
    expect(await refusalOf(remove(['vol-1'], [{ Key: 'aws:x' }]))).to.match(/^400 InvalidParameterValue/)
    expect(ec2.tagsOf('vol-1')).to.deep.equal({ foreign: 'keep' })
  })
})
