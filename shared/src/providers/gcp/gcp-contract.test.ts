import { describeProviderContract } from '../../../testing/provider-contract.ts'
import { startGcp } from '../../../testing/provider-contract/gcp-subject.ts'

for (const errorDetails of [true, false]) {
  describe(`with details in errors: ${errorDetails}`, () => {
    describeProviderContract('gcp', () => startGcp({ errorDetails }))
  })
}
