import { MemoryProvider } from '@k8s-cloud-tagger/shared/providers/memory/memory-provider.ts'
import { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { ClusterInHand } from '@k8s-cloud-tagger/shared/testing/cluster-in-hand.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { TaggerProcess } from '@k8s-cloud-tagger/shared/testing/tagger-process.ts'
import { taggingRules } from '@k8s-cloud-tagger/shared/testing/tagging-rules.ts'
import { expect } from 'chai'
import fc from 'fast-check'
import { Assembly } from './assemble.ts'
import type { ClaimRow } from './cluster-report.ts'
import { readDisks } from './disk-readings.ts'

const keys = ['app', 'team', 'stage', 'owner'] as const
const tags = fc.dictionary(fc.constantFrom(...keys), fc.constantFrom('one', 'two'), { maxKeys: 4 })

/** A claim with its volume, and what people do to both between two passes. */
const subject = fc.record({
  labels: tags,
  labelsLater: tags,
  onDisk: tags,
  byHandLater: fc.dictionary(fc.constantFrom(...keys), fc.constantFrom('one', 'hand', undefined), { maxKeys: 2 }),
  /** Some name one disk. */
  disk: fc.nat({ max: 4 }),
  taggedBefore: fc.boolean(),
  otherClaim: fc.boolean(),
  outOfScope: fc.boolean(),
})

const policies = fc.record({
  conflict: fc.constantFrom('overwrite' as const, 'preserve' as const),
  removes: fc.boolean(),
  adopt: fc.boolean(),
  enforced: fc.boolean(),
})

type Subject = typeof subject extends fc.Arbitrary<infer T> ? T : never
type Policies = typeof policies extends fc.Arbitrary<infer T> ? T : never

class World {
  readonly clock = new FakeClock()
  readonly cluster = new ClusterInHand()
  readonly cloud = new MemoryProvider({ clock: this.clock, knownDisksOnly: true })
  readonly rules
  /** Sees one claim at a time, so that two volumes of one disk may both have been tagged. */
  readonly webhook: TaggerProcess
  readonly reconciler: TaggerProcess

  constructor(subjects: readonly Subject[], { conflict, removes, adopt, enforced }: Policies) {
    const config = {
      scope: { namespaces: { exclude: ['elsewhere'] } },
      ...(enforced && { tags: { enforced: { stage: '{{ .Namespace }}' } } }),
    }
    const policy = { conflict, removes, adopt }
    this.rules = taggingRules({ provider: this.cloud, clock: this.clock, config, cloud: 'mock', ...policy })
    const options = {
      cluster: this.cluster,
      cloud: this.cloud,
      clock: this.clock,
      policy: conflict,
      config,
      tagging: { cloud: 'mock' as const, ...policy },
    }
    this.webhook = new TaggerProcess(options)
    this.reconciler = new TaggerProcess({ ...options, volumesOf: (disk) => this.#cache().volumesOf(disk) })
    for (const [index, each] of subjects.entries()) this.#add(each, index)
  }

  #add({ labels, disk, onDisk, outOfScope }: Subject, index: number): void {
    const [namespace, name, uid] = [outOfScope ? 'elsewhere' : 'db', `data-${index}`, `claim-${index}`]
    this.cluster.put({ namespace, name, uid, labels, volumeName: `pv-${index}` })
    this.cluster.putVolume({
      name: `pv-${index}`,
      uid: `volume-${index}`,
      claimRef: { namespace, name, uid },
      source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: `disk-${disk}` },
    })
    this.cloud.addDisk(`disk-${disk}`, onDisk)
  }

  claimOf(index: number) {
    const found = [...this.cluster.claims.values()].find(({ name }) => name === `data-${index}`)
    if (found === undefined) throw new Error(`no claim ${index}`)
    return found
  }

  /** What happened since the last pass: new labels, hands on the disk, a volume that was bound again. */
  async change(each: Subject, index: number): Promise<void> {
    const claim = this.claimOf(index)
    const uid = each.otherClaim ? `${claim.uid}-again` : claim.uid
    const { key: _, ...rest } = claim
    this.cluster.put({ ...rest, uid, labels: each.labelsLater })
    const volume = this.cluster.volumes.get(`pv-${index}`)
    if (volume?.claimRef !== undefined) this.cluster.putVolume({ ...volume, claimRef: { ...volume.claimRef, uid } })
    for (const [key, value] of Object.entries(each.byHandLater)) this.cloud.setByHand(`disk-${each.disk}`, key, value)
  }

  async report(): Promise<readonly ClaimRow[]> {
    const { signal } = new AbortController()
    const snapshot = {
      claims: [...this.cluster.claims.values()],
      volumes: [...this.cluster.volumes.values()],
      namespaces: [],
      unread: [],
    }
    const assembly = new Assembly({ snapshot, rules: this.rules, namespaces: [], requiredLabels: [] })
    const readings = await readDisks(assembly.disks, { provider: this.cloud, clock: this.clock, signal })
    return assembly.assemble(readings, this.clock.wallMs()).claims
  }

  #cache(): ClusterCache {
    const cache = new ClusterCache('mock')
    for (const claim of this.cluster.claims.values()) cache.putClaim(claim)
    for (const volume of this.cluster.volumes.values()) cache.putVolume(volume)
    return cache
  }
}

function changesIn({ tags }: ClaimRow): object {
  const set = tags.filter(({ state }) => state === 'add' || state === 'change').map(({ key, value }) => [key, value])
  const remove = tags.filter(({ state }) => state === 'remove').map(({ key, present }) => [key, [present]])
  return { set: Object.fromEntries(set), remove: Object.fromEntries(remove) }
}

describe('the report and the path', () => {
  it('agree on every tag that is added, changed and removed, and the report writes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(subject, { minLength: 1, maxLength: 6 }), policies, async (subjects, chosen) => {
        const world = new World(subjects, chosen)
        for (const [index, { taggedBefore }] of subjects.entries()) {
          if (taggedBefore) await world.webhook.pass(world.claimOf(index).key)
        }
        await world.clock.step(60_000)
        for (const [index, each] of subjects.entries()) await world.change(each, index)
        const writes = world.cloud.calls.applyChanges
        const records = [...world.cluster.volumes.values()].map(({ applied }) => applied)

        const rows = await world.report()

        expect(world.cloud.calls.applyChanges).to.equal(writes)
        expect([...world.cluster.volumes.values()].map(({ applied }) => applied)).to.deep.equal(records)
        for (const row of rows) {
          const claim = [...world.cluster.claims.values()].find(({ name }) => name === row.name)
          const outcome = claim && (await world.reconciler.pass(claim.key, { observe: true }))
          const made = typeof outcome === 'object' && outcome.kind === 'tagged' ? outcome.changes : undefined
          const written = {
            set: Object.fromEntries(made?.set ?? []),
            remove: Object.fromEntries(made?.remove ?? []),
          }
          expect(changesIn(row), row.name).to.deep.equal(written)
          expect(row.state === 'differs', row.name).to.equal(made !== undefined)
        }
      }),
      { numRuns: 300 },
    )
  })
})
