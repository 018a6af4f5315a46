import { describeProviderContract } from '../../../testing/provider-contract.ts'
import { startAws } from '../../../testing/provider-contract/aws-subject.ts'

describeProviderContract('aws', () => startAws())
