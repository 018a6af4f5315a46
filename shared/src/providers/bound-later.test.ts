import { expect } from 'chai'
import { ClusterInHand } from '../../testing/cluster-in-hand.ts'
import { cloudNames, clouds } from '../../testing/provider-contract/clouds.ts'
import type { CloudSubject } from '../../testing/provider-contract/cloud-subject.ts'
import { TaggerProcess } from '../../testing/tagger-process.ts'
import { systemClock } from '../runtime/clock.ts'

for (const name of cloudNames) {
  describe(`a claim on ${name}`, () => {
    let subject: CloudSubject
    beforeEach(async () => (subject = await clouds[name]({})))
    afterEach(() => subject.stop())

    it('A3: gets its tags when it is bound, the same way as when it is made', async () => {
      const { cloud, provider } = subject
      const cluster = new ClusterInHand()
      const process = new TaggerProcess({ cluster, cloud: provider, clock: systemClock, tagging: { cloud } })
      const labels = { app: 'db', team: 'core', env: 'prod' }
      const disk = subject.addDisk({})
      const pending = cluster.put({ labels, volumeName: undefined })
      expect(await process.pass(pending.key)).to.deep.equal({ kind: 'pending', reason: 'claim-unbound' })

      cluster.putVolume({ source: subject.source(disk) })
      const bound = cluster.put({ labels, volumeName: 'pv-1' })
      expect(await process.pass(bound.key)).to.have.property('kind', 'tagged')

      expect(subject.tagsOf(disk)).to.deep.equal(labels)
    })
  })
}
