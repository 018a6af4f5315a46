import { claimKey } from '../src/claims/claim-key.ts'
import type { Claim } from '../src/claims/claim.ts'
import type { Volume } from '../src/claims/volume.ts'

const epochMs = Date.UTC(2026, 0, 1)

/** A bound claim `db/data-0` with sensible fields; name only what the test is about. */
export function claim(overrides: Partial<Omit<Claim, 'key'>> = {}): Claim {
  const namespace = overrides.namespace ?? 'db'
  const name = overrides.name ?? 'data-0'
  return {
    namespace,
    name,
    uid: 'claim-uid-1',
    resourceVersion: '100',
    createdAtMs: epochMs,
    labels: {},
    annotations: {},
    volumeName: 'pv-1',
    storageClassName: 'gp3',
    deleting: false,
    ...overrides,
    key: claimKey(namespace, name),
  }
}

/** The volume that `claim()` is bound to, an EBS volume that was there for a long time. */
export function volume(overrides: Partial<Volume> = {}): Volume {
  return {
    name: 'pv-1',
    uid: 'volume-uid-1',
    resourceVersion: '101',
    createdAtMs: epochMs - 86_400_000,
    claimRef: { namespace: 'db', name: 'data-0', uid: 'claim-uid-1' },
    source: { kind: 'csi', driver: 'ebs.csi.aws.com', handle: 'vol-0123456789abcdef0' },
    zones: [],
    provisionedBy: undefined,
    applied: undefined,
    deleting: false,
    ...overrides,
  }
}
