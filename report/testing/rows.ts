import type { ClaimRow, ClusterReport } from '../src/cluster-report.ts'

/** A row of a claim whose disk is as it should be; name only what the test is about. */
export function row(overrides: Partial<ClaimRow> = {}): ClaimRow {
  return {
    namespace: 'db',
    name: 'data-0',
    storageClass: 'gp3',
    volume: 'pv-1',
    disk: 'vol-0123456789abcdef0',
    state: 'tagged',
    record: 'ours',
    tags: [{ key: 'team', value: 'core', present: 'core', state: 'in-place' }],
    otherTags: 0,
    problems: [],
    missingLabels: [],
    ...overrides,
  }
}

export function clusterReport(overrides: Partial<ClusterReport> = {}): ClusterReport {
  return {
    schema: 'k8s-cloud-tagger/report',
    version: 1,
    generatedAt: '2026-12-01T06:00:00.000Z',
    program: '0.1.0',
    cluster: 'prod',
    cloud: 'aws',
    configHash: '0123456789ab',
    source: 'cloud',
    complete: true,
    unread: [],
    namespaces: [],
    requiredLabels: [],
    calls: { cloud: { DescribeVolumes: 1 }, kubernetes: 2 },
    wouldWrite: { disks: 0, add: 0, change: 0, remove: 0, cloudCalls: 0 },
    claims: [row()],
    ...overrides,
  }
}
