import { EC2Client, type EC2ClientConfig } from '@aws-sdk/client-ec2'
import { fakeCredentials, type Ec2Fake } from './ec2-fake.ts'

/** The real SDK, pointed at a fake and without retries of its own. */
export function ec2Client(fake: Ec2Fake, config: EC2ClientConfig = {}): EC2Client {
  return new EC2Client({
    endpoint: fake.url,
    region: 'eu-west-1',
    credentials: fakeCredentials,
    maxAttempts: 1,
    ...config,
  })
}

/** How a call was refused, as the SDK tells it: `503 RequestLimitExceeded: Request limit exceeded.` */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } }
    return `${$metadata?.httpStatusCode ?? 'no answer'} ${name}: ${message}`
  }
  return 'it was not refused'
}
