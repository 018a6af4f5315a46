import { expect } from 'chai'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import type { CloudName, CloudSubject } from '../../testing/provider-contract/cloud-subject.ts'
import { cloudNames, clouds } from '../../testing/provider-contract/clouds.ts'
import { TaggerProcess } from '../../testing/tagger-process.ts'
import type { Compatibility } from '../tags/tag-form.ts'
import { systemClock } from '../runtime/clock.ts'

type Tags = Readonly<Record<string, string>>

const labels: Tags = { 'app.kubernetes.io/name': 'frontend', 'example.com/team': 'core', Env: 'prod' }

/** What these labels were on a disk, and what one of them was. */
const written: Readonly<
  Record<CloudName, Readonly<Record<Exclude<Compatibility, 'none'>, { readonly all: Tags; readonly team: string }>>>
> = {
  aws: {
    'rust-0.4': {
      all: { 'app.kubernetes.io-name': 'frontend', 'example.com-team': 'core', Env: 'prod' },
      team: 'example.com-team',
    },
    'k8s-pvc-tagger': { all: labels, team: 'example.com/team' },
  },
  gcp: {
    'rust-0.4': {
      all: { 'app-kubernetes-io-name': 'frontend', 'example-com-team': 'core', env: 'prod' },
      team: 'example-com-team',
    },
    'k8s-pvc-tagger': {
      all: { 'app-kubernetes-io_name': 'frontend', 'example-com_team': 'core', env: 'prod' },
      team: 'example-com_team',
    },
  },
  azure: {
    'rust-0.4': {
      all: { 'app.kubernetes.io-name': 'frontend', 'example.com-team': 'core', Env: 'prod' },
      team: 'example.com-team',
    },
    'k8s-pvc-tagger': {
      all: { 'app.kubernetes.io_name': 'frontend', 'example.com_team': 'core', Env: 'prod' },
      team: 'example.com_team',
    },
  },
}

for (const name of cloudNames) {
  for (const tool of ['rust-0.4', 'k8s-pvc-tagger'] as const) {
    describe(`a disk on ${name} that ${tool} has tagged`, () => {
      const { all, team } = written[name][tool]
      const byHand = { [`${name}-by-hand`.replace('azure', 'az')]: 'stays' }
      let subject: CloudSubject

      beforeEach(async () => {
        subject = await clouds[name]({ tagForm: { compatibility: tool, allowedKeys: new Set() } })
      })

      afterEach(() => subject.stop())

      function start(tags: Tags) {
        const disk = subject.addDisk(tags)
        const cluster = new ClusterInHand()
        const claim = cluster.put({ uid: 'claim-uid', volumeName: 'pvc-1', labels })
        cluster.putVolume({
          name: 'pvc-1',
          claimRef: { namespace: claim.namespace, name: claim.name, uid: claim.uid },
          source: subject.source(disk),
        })
        const { cloud, provider } = subject
        const tagging = { cloud, adopt: true }
        const process = new TaggerProcess({ cluster, cloud: provider, clock: systemClock, tagging })
        return { claim, cluster, disk, process }
      }

      it('is taken over without a write', async () => {
        const { claim, disk, process } = start({ ...all, ...byHand })

        const outcome = await process.pass(claim.key)

        expect(outcome).to.have.property('kind', 'in-sync')
        expect(subject.callsOf('write')).to.equal(0)
        expect(subject.tagsOf(disk)).to.deep.equal({ ...all, ...byHand })
      })

      it('C19: loses a tag with its label, by the key that the tag has there, and no tag put there by hand', async () => {
        const { claim, cluster, disk, process } = start({ ...all, ...byHand })
        await process.pass(claim.key)
        const { 'example.com/team': _, ...rest } = labels
        cluster.label(claim, rest)

        await process.pass(claim.key)

        const { [team]: removed, ...left } = all
        expect(removed).to.equal('core')
        expect(subject.tagsOf(disk)).to.deep.equal({ ...left, ...byHand })
      })

      it('gets the same tags from nothing', async () => {
        const { claim, disk, process } = start(byHand)

        await process.pass(claim.key)

        expect(subject.tagsOf(disk)).to.deep.equal({ ...all, ...byHand })
      })
    })
  }
}
