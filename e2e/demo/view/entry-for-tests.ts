import type { ClaimEntry } from '../ledger/claim-entry.ts'

/** A claim that was tagged by the webhook, unless stated otherwise. */
export function claimEntry(overrides: Partial<ClaimEntry> = {}): ClaimEntry {
  const labels = overrides.labels ?? { app: 'orders', team: 'checkout' }
  return {
    key: 'shop/orders',
    group: undefined,
    labels,
    volumeName: 'pvc-1',
    disk: 'vol-12345678',
    reason: undefined,
    foundTags: {},
    tags: { ...labels, 'ebs.csi.aws.com/cluster': 'true' },
    ourKeys: new Set(Object.keys(labels)),
    changedKeys: new Set(),
    door: 'webhook-1',
    happenedAtMs: {},
    lastWrite: { cause: 'bind', afterMs: 118 },
    ...overrides,
  }
}
