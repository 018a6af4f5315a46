import { createComputeApi } from '../../src/providers/gcp/compute-api.ts'
import type { Credentials } from '../../src/providers/gcp/credentials.ts'
import { GcpProvider } from '../../src/providers/gcp/gcp-provider.ts'
import { systemClock, type Clock } from '../../src/runtime/clock.ts'
import { GcpFake } from '../gcp/gcp-fake.ts'
import { providerDeps, steering, type CloudSubject, type CloudSubjectOptions } from './cloud-subject.ts'

// It is always a quarter past the minute, so that the wait until the next one is known.
const quarterPast: Clock = { ...systemClock, wallMs: () => 15_000 }
const throttleRetryAfterMs = 46_000
const names = { read: ['get', 'list'], write: ['setLabels'] }
const unknownCode = 'diskIsShyToday'

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

export async function startGcp(
  options: CloudSubjectOptions & { readonly errorDetails?: boolean } = {},
): Promise<CloudSubject & { readonly fake: GcpFake }> {
  const fake = await GcpFake.start()
  fake.errorDetails = options.errorDetails ?? true
  const deps = providerDeps({ clock: quarterPast, ...options })
  const api = createComputeApi({ clock: deps.clock, callTimeoutMs: 10_000, endpoint: fake.url, credentials })
  const provider = new GcpProvider(deps, api)
  const steered = steering(fake, {
    names,
    scopeOf: (operation, times) => ({ operation, times }),
    nameOf: ({ operation }) => operation,
    nameMatches: (name, counted) => counted.endsWith(`.${name}`),
  })
  let disks = 0
  return {
    ...steered,
    fake,
    cloud: 'gcp',
    provider,
    clock: deps.clock,
    unknownCode,
    throttleRetryAfterMs,
    source: (disk) => ({ kind: 'csi', driver: 'pd.csi.storage.gke.io', handle: disk.id }),
    addDisk(labels = {}) {
      const id = diskId(++disks)
      fake.addDisk(inTheCloud(id), { labels })
      return { id }
    },
    removeDisk: ({ id }) => fake.removeDisk(inTheCloud(id)),
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
      const injected = steered.each(call, 1, (scope) => fake.inject(fault, scope))
      steered.beforeNext(call, () => setImmediate(() => injected.clear()))
    },
    refuseUnknown: (call, times = 1) =>
      steered.each(call, times, (scope) => fake.inject({ kind: 'error', status: 418, reason: unknownCode }, scope)),
    stop: async () => {
      await provider.stop()
      await fake.close()
    },
  }
}
