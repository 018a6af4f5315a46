import { GcpFake } from '../../../testing/gcp/gcp-fake.ts'
import { describeProviderContract, type ContractSubject } from '../../../testing/provider-contract.ts'
import { systemClock, type Clock } from '../../runtime/clock.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { noCloudMetrics } from '../cloud-metrics.ts'
import { createComputeApi } from './compute-api.ts'
import type { Credentials } from './credentials.ts'
import { GcpProvider } from './gcp-provider.ts'

// It is always a quarter past the minute, so that the wait until the next one is known.
const clock: Clock = { ...systemClock, wallMs: () => 15_000 }
const throttleRetryAfterMs = 46_000

const credentials: Credentials = {
  headers: async () => new Headers({ authorization: 'Bearer token' }),
  projectId: async () => 'own-project',
  refused() {},
}

/** Zonal and regional disks in turn, in a project that is named and in the one that is not. */
function diskId(number: number): string {
  const project = number % 4 < 2 ? 'projects/another-project' : 'projects/UNSPECIFIED'
  const place = number % 2 === 0 ? 'zones/europe-west4-a' : 'regions/europe-west4'
  return `${project}/${place}/disks/disk-${number}`
}

const inTheCloud = (id: string) => id.replace('UNSPECIFIED', 'own-project')

for (const errorDetails of [true, false]) {
  describe(`with details in errors: ${errorDetails}`, () => {
    describeProviderContract('gcp', () => startSubject(errorDetails))
  })
}

async function startSubject(errorDetails: boolean): Promise<ContractSubject> {
  const fake = await GcpFake.start()
  fake.errorDetails = errorDetails
  const api = createComputeApi({ clock, callTimeoutMs: 10_000, endpoint: fake.url, credentials })
  const provider = new GcpProvider(
    {
      clock,
      random: { next: () => 0.5 },
      logger: silentLogger,
      metrics: noCloudMetrics,
      budget: { profile: 'exclusive', share: 1 },
    },
    api,
  )
  let disks = 0
  const operations = { read: ['get', 'list'], write: ['setLabels'] }
  return {
    provider,
    clock,
    throttleRetryAfterMs,
    addDisk(labels = {}) {
      const id = diskId(++disks)
      fake.addDisk(inTheCloud(id), { labels })
      return { id }
    },
    missingDisk: () => ({ id: diskId(999_999) }),
    tagsOf: ({ id }) => fake.labelsOf(inTheCloud(id)),
    setByHand: ({ id }, key, value) =>
      value === undefined ? fake.deleteLabel(inTheCloud(id), key) : fake.setLabel(inTheCloud(id), key, value),
    deny: ({ id }) => fake.deny([inTheCloud(id)]),
    fill: ({ id }) => fake.fill(inTheCloud(id)),
    failNext(failure, call) {
      const fault = {
        throttled: { kind: 'throttle' } as const,
        unavailable: { kind: 'error', status: 503, reason: 'backendError' } as const,
        'lost-answer': { kind: 'lost-answer' } as const,
      }[failure]
      // A fault hits one kind of call; whichever comes first uses it up.
      const faults = operations[call].map((operation) => fake.inject(fault, { operation }))
      fake.onCall = ({ operation }) => {
        if (operations[call].some((each) => operation.endsWith(`.${each}`))) {
          setImmediate(() => faults.forEach((each) => each.clear()))
        }
      }
    },
    calls: () => Object.values(fake.counts()).reduce((sum, { calls }) => sum + calls, 0),
    stop: async () => {
      await provider.stop()
      await fake.close()
    },
  }
}
