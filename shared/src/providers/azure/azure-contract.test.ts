import { describeProviderContract } from '../../../testing/provider-contract.ts'
import { startAzure } from '../../../testing/provider-contract/azure-subject.ts'

describeProviderContract('azure', () => startAzure())
