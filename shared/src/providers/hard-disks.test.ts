import { expect } from 'chai'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { startAzure } from '../../testing/provider-contract/azure-subject.ts'
import type { CloudSubject } from '../../testing/provider-contract/cloud-subject.ts'
import { cloudNames, clouds } from '../../testing/provider-contract/clouds.ts'
import { TaggerProcess } from '../../testing/tagger-process.ts'
import type { ClaimKey } from '../claims/claim-key.ts'
import type { Claim } from '../claims/claim.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { ConflictPolicy } from '../plan/plan.ts'
import { systemClock } from '../runtime/clock.ts'
import type { Outcome } from '../tagger/outcome.ts'

type Tags = Readonly<Record<string, string>>

const foreign = { finance: 'z' }
const labels = { team: 'core' }

/** One process on one cloud, and claims bound to disks of it that were there before. */
class World {
  readonly subject: CloudSubject
  readonly cluster = new ClusterInHand()
  readonly #process: TaggerProcess
  #claims = 0

  constructor(subject: CloudSubject, policy: ConflictPolicy = 'overwrite') {
    this.subject = subject
    const { cloud, provider } = subject
    const { cluster } = this
    this.#process = new TaggerProcess({ cluster, cloud: provider, clock: systemClock, policy, tagging: { cloud } })
  }

  /** A fresh one was made for this very claim a moment ago, and is written without a look where the cloud allows it. */
  bind(disk: DiskRef, labels: Tags, { fresh = false } = {}): Claim {
    const number = ++this.#claims
    const uid = `claim-uid-${number}`
    const volumeName = `pvc-${uid}`
    const claim = this.cluster.put({ name: `data-${number}`, uid, volumeName, labels })
    this.cluster.putVolume({
      name: volumeName,
      uid: `volume-uid-${number}`,
      claimRef: { namespace: claim.namespace, name: claim.name, uid },
      source: this.subject.source(disk),
      ...(fresh && { provisionedBy: 'the driver', createdAtMs: systemClock.wallMs() }),
    })
    return claim
  }

  label(claim: Claim, labels: Tags): Claim {
    return this.cluster.label(claim, labels)
  }

  async pass(key: ClaimKey, observe = false): Promise<Outcome | 'killed'> {
    return this.#process.pass(key, { observe })
  }

  /** As the queue would: again after a failure that passes. */
  async untilDone(key: ClaimKey): Promise<Outcome | 'killed'> {
    const first = await this.pass(key)
    return first !== 'killed' && first.kind === 'cloud-failure' ? this.pass(key, true) : first
  }

  /** Whether one more look, at the disk itself, finds nothing to do. */
  async isAtRest(key: ClaimKey): Promise<boolean> {
    const written = this.subject.callsOf('write')
    const outcome = await this.pass(key, true)
    return outcome !== 'killed' && outcome.kind === 'in-sync' && this.subject.callsOf('write') === written
  }

  get opened(): number {
    return [...this.cluster.volumes.values()].filter(({ applied }) => applied?.includes('"intent"') === true).length
  }
}

for (const name of cloudNames) {
  describe(`hard disks on ${name}`, () => {
    let subject: CloudSubject

    let isCompanyComing = false

    beforeEach(async () => {
      isCompanyComing = false
      subject = await clouds[name]({
        expected: { readsToCome: () => 0, writesToCome: () => Number(isCompanyComing) },
      })
    })

    /** All of them at once; where the cloud writes many disks in one call, in one batch. */
    async function passTogether(world: World, claims: readonly Claim[]): Promise<readonly (Outcome | 'killed')[]> {
      const { provider } = subject
      isCompanyComing = name === 'aws'
      const passes = claims.map(({ key }) => world.pass(key))
      while (isCompanyComing) {
        await new Promise((resolve) => setImmediate(resolve))
        isCompanyComing = provider.status().every(({ waiting }) => waiting.fresh < claims.length)
      }
      provider.poke()
      return Promise.all(passes)
    }

    afterEach(() => subject.stop())

    it('with more labels than it can hold: the first are written, those of others stay, the rest is named', async () => {
      const world = new World(subject)
      const { tagsPerDisk } = subject.provider
      const disk = subject.addDisk(foreign)
      const many = Object.fromEntries(Array.from({ length: tagsPerDisk + 10 }, (_, i) => [`label-${100 + i}`, 'x']))
      const claim = world.bind(disk, many)

      expect(await world.pass(claim.key)).to.include({ kind: 'tagged' })

      const tags = subject.tagsOf(disk)
      expect(Object.keys(tags)).to.have.length(tagsPerDisk)
      expect(tags).to.include({ ...foreign, 'label-100': 'x' })
      expect(world.cluster.reasons()).to.include('TagsSkipped')
      expect(await world.isAtRest(claim.key)).to.equal(true)
    })

    it('C17: whose labels meet in one tag: the same one wins every time, the other is named', async () => {
      const world = new World(subject)
      const meeting = { 'a.b': '1', a_b: '2', 'a-b': '3', App: '4', app: '5' }
      const [disk, mirrored] = [subject.addDisk(foreign), subject.addDisk(foreign)]
      const { problems, tags } = subject.provider.normalize(new Map(Object.entries(meeting)))
      const claims = [
        world.bind(disk, meeting),
        world.bind(mirrored, Object.fromEntries(Object.entries(meeting).toReversed())),
      ]

      for (const { key } of claims) await world.pass(key)

      expect(subject.tagsOf(disk)).to.deep.equal({ ...Object.fromEntries(tags), ...foreign })
      expect(subject.tagsOf(mirrored)).to.deep.equal(subject.tagsOf(disk))
      for (const { key } of claims) expect(await world.isAtRest(key)).to.equal(true)
      const lost = problems.filter(({ tag }) => tag === undefined)
      expect(tags.size + lost.length).to.equal(Object.keys(meeting).length)
      if (problems.length > 0) expect(world.cluster.reasons()).to.include('TagsSkipped')
    })

    it('E1, E9, E11: tags of others stay through a change, a removal, and one that they add meanwhile', async () => {
      const world = new World(subject)
      const disk = subject.addDisk(foreign)
      const claim = world.bind(disk, labels)
      await world.pass(claim.key)

      subject.beforeNext('write', () => subject.setByHand(disk, 'robot', '1'))
      await world.untilDone(world.label(claim, { team: 'infra', env: 'prod' }).key)
      expect(subject.tagsOf(disk)).to.deep.equal({ ...foreign, robot: '1', team: 'infra', env: 'prod' })
      await world.untilDone(world.label(claim, {}).key)

      expect(subject.tagsOf(disk)).to.deep.equal({ ...foreign, robot: '1' })
    })

    it('D11: with a tag of ours that somebody changed by hand: a look at the disk puts it right', async () => {
      const world = new World(subject)
      const disk = subject.addDisk(foreign)
      const claim = world.bind(disk, labels)
      await world.pass(claim.key)
      subject.setByHand(disk, 'team', 'somebody-else')

      await world.pass(claim.key, true)

      expect(subject.tagsOf(disk)).to.deep.equal({ ...foreign, ...labels })
    })

    it('with a tag of ours that somebody took over: it is not removed with its label', async () => {
      const world = new World(subject)
      const disk = subject.addDisk()
      const claim = world.bind(disk, labels)
      await world.pass(claim.key)
      subject.setByHand(disk, 'team', 'somebody-else')

      await world.untilDone(world.label(claim, {}).key)

      expect(subject.tagsOf(disk)).to.deep.equal({ team: 'somebody-else' })
    })

    it('E5: with a value of somebody else, under preserve: theirs stays, the rest is written', async () => {
      const world = new World(subject, 'preserve')
      const disk = subject.addDisk({ team: 'theirs' })
      const claim = world.bind(disk, { team: 'core', env: 'prod' })

      await world.pass(claim.key)

      expect(subject.tagsOf(disk)).to.deep.equal({ team: 'theirs', env: 'prod' })
      expect(await world.isAtRest(claim.key)).to.equal(true)
    })

    it('E6: that changes between read and write: it is read and written again', async () => {
      const world = new World(subject)
      const disk = subject.addDisk(foreign)
      const claim = world.bind(disk, labels)
      subject.beforeNext('write', () => subject.setByHand(disk, 'attached', 'node-1'))

      const first = await world.pass(claim.key)
      if (subject.provider.replacesWholeSet) expect(first).to.include({ kind: 'cloud-failure', reason: 'conflict' })
      await world.pass(claim.key, true)

      expect(subject.tagsOf(disk)).to.deep.equal({ ...foreign, attached: 'node-1', ...labels })
    })

    const onesOfABatch: readonly {
      readonly title: string
      readonly spoil: (disk: DiskRef) => void
      readonly outcome: object
      /** What a second look, at the disk, makes of it. */
      readonly later: object
      readonly left: Tags | undefined
    }[] = [
      {
        title: 'F1: that may not be written',
        spoil: (disk) => subject.deny(disk),
        outcome: { kind: 'cloud-failure', reason: 'denied' },
        later: { kind: 'cloud-failure', reason: 'denied' },
        left: foreign,
      },
      {
        title: 'that is gone',
        spoil: (disk) => subject.removeDisk(disk),
        outcome: { kind: 'cloud-failure', reason: 'not-found' },
        later: { kind: 'cloud-failure', reason: 'not-found' },
        left: undefined,
      },
      {
        title: 'that has no room',
        spoil: (disk) => subject.fill(disk),
        outcome: name === 'gcp' ? { kind: 'in-sync' } : { kind: 'cloud-failure', reason: 'invalid' },
        later: { kind: 'in-sync' },
        left: foreign,
      },
    ]
    for (const { title, spoil, outcome, later, left } of onesOfABatch) {
      it(`${title}: every other disk that is written with it is tagged`, async () => {
        const world = new World(subject)
        const disks = Array.from({ length: 6 }, () => subject.addDisk(foreign))
        const [bad, ...good] = disks as [DiskRef, ...DiskRef[]]
        const [badOne, ...rest] = disks.map((disk) => world.bind(disk, labels, { fresh: true })) as [Claim, ...Claim[]]
        spoil(bad)

        const [first, ...others] = await passTogether(world, [badOne, ...rest])

        expect(first).to.include(outcome)
        expect(await world.pass(badOne.key, true)).to.include(later)
        for (const other of others) expect(other).to.include({ kind: 'tagged' })
        for (const disk of good) expect(subject.tagsOf(disk)).to.deep.equal({ ...foreign, ...labels })
        if (left !== undefined) {
          expect(subject.tagsOf(bad)).to.include(left)
          expect(subject.tagsOf(bad)).not.to.have.property('team')
        }
        expect(world.opened).to.equal(0)
      })
    }
  })
}

describe('hard disks in a resource group that Azure protects', () => {
  it('F1: are told apart from those of other groups, which are tagged', async () => {
    const subject = await startAzure()
    const world = new World(subject)
    const locked = subject.addDisk()
    const elsewhere = { id: locked.id.replace('mc_demo_aks_westeurope', 'disks') }
    subject.fake.addDisk(elsewhere.id)
    subject.fake.lockDown('mc_demo_aks_westeurope')
    const claims = [world.bind(locked, labels), world.bind(elsewhere, labels)]

    const [first, second] = await Promise.all(claims.map(({ key }) => world.pass(key)))

    expect(first).to.include({ reason: 'denied', code: 'DenyAssignmentAuthorizationFailed' })
    expect((first as { message: string }).message).to.include('StorageClass parameter resourceGroup')
    expect(second).to.include({ kind: 'tagged' })
    expect([subject.tagsOf(locked), subject.tagsOf(elsewhere)]).to.deep.equal([{}, labels])
    await subject.stop()
  })
})
