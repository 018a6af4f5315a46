import { expect } from 'chai'
import { describeNormalizing } from './provider-contract/normalizing.ts'
import { describeReads } from './provider-contract/reads.ts'
import { describeFailures, describeSending } from './provider-contract/sending.ts'
import type { ContractSubject, CurrentSubject, MakeSubject } from './provider-contract/subject.ts'
import { describeWrites } from './provider-contract/writes.ts'

export type { ContractSubject, MakeSubject } from './provider-contract/subject.ts'

/**
 * What the path relies on, whatever the cloud. Run for memory, and for each cloud with its real SDK against a fake
 * over HTTP. Every test gets a subject of its own.
 */
export function describeProviderContract(name: string, makeSubject: MakeSubject): void {
  describe(`${name}, by the provider contract`, () => {
    let subject: ContractSubject | undefined

    beforeEach(async () => {
      subject = await makeSubject()
    })

    afterEach(async () => {
      await subject?.stop()
      subject = undefined
    })

    const current: CurrentSubject = () => {
      if (subject === undefined) throw new Error('there is a subject only while a test runs')
      return subject
    }

    it('states its scope and its limits', () => {
      const { provider, addDisk } = current()

      expect(provider.scopeOf(addDisk())).not.to.equal('')
      expect(provider.tagsPerDisk).to.be.greaterThan(0)
      expect(provider.readLagMs).to.be.at.least(0)
    })

    describeReads(current)
    describeWrites(current)
    describeSending(current)
    describeFailures(current)
    describeNormalizing(current)
  })
}
