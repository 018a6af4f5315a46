import type { ClaimRow, ClusterReport, TagRow } from '@k8s-cloud-tagger/report/src/cluster-report.ts'

export interface SampleOptions {
  readonly cluster: string
  readonly claims: number
  /** Chance, from 0 to 1; the same one gives the same report. */
  readonly next: () => number
}

const teams = ['checkout', 'search', 'ledger', 'mail', 'risk', 'media', 'identity', 'data', 'growth', 'edge']
const stages = ['prod', 'prod', 'prod', 'staging', 'dev']
const apps = ['postgres', 'kafka', 'redis', 'elastic', 'minio', 'prometheus', 'mysql', 'zookeeper', 'loki', 'rabbitmq']
const classes = ['gp3', 'gp3', 'gp3', 'io2', 'st1']

/** A report of a made-up cluster as they are found: mostly right, with everything that a report can say somewhere. */
export function sampleReport({ cluster, claims: count, next }: SampleOptions): ClusterReport {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
  const claims = Array.from({ length: count }, (_, index) => sampleClaim(index, pick, next))
  const due = claims.filter(({ state }) => state === 'differs')
  const tagsIn = (state: TagRow['state']) =>
    due.reduce((sum, { tags }) => sum + tags.filter((tag) => tag.state === state).length, 0)
  return {
    schema: 'k8s-cloud-tagger/report',
    version: 1,
    generatedAt: '2026-12-01T06:00:00.000Z',
    program: '0.1.0',
    cluster,
    cloud: 'aws',
    configHash: '3f9a1c0b77de',
    source: 'cloud',
    complete: true,
    unread: [],
    namespaces: [],
    requiredLabels: ['team', 'cost-center'],
    calls: { cloud: { DescribeVolumes: Math.ceil(count / 500) }, kubernetes: 2 * Math.ceil(count / 500) },
    wouldWrite: {
      disks: due.length,
      add: tagsIn('add'),
      change: tagsIn('change'),
      remove: tagsIn('remove'),
      cloudCalls: Math.ceil(due.length / 12),
    },
    claims,
  }
}

function sampleClaim(index: number, pick: <T>(items: readonly T[]) => T, next: () => number): ClaimRow {
  const team = pick(teams)
  const stage = pick(stages)
  const app = pick(apps)
  const id = index.toString(16).padStart(17, '0')
  const hasTeam = next() > 0.03
  const base = {
    namespace: `${team}-${stage}`,
    name: `data-${app}-${index % 7}-${index}`,
    storageClass: pick(classes),
    volume: `pvc-${id}`,
    record: 'ours',
    otherTags: 4,
    problems: [],
    missingLabels: [...(hasTeam ? [] : ['team']), ...(next() > 0.12 ? [] : ['cost-center'])],
  } as const
  const wished: [string, string][] = [
    ['app', app],
    ['stage', stage],
    ['cost-center', `cc-${1000 + (index % 40)}`],
    ...(hasTeam ? [['team', team] as [string, string]] : []),
  ]
  const disk = `vol-${id}`
  const inPlace = wished.map(([key, value]): TagRow => ({ key, value, present: value, state: 'in-place' }))
  const chance = next()
  if (chance < 0.86) return { ...base, disk, state: 'tagged', tags: inPlace }
  if (chance < 0.93) return { ...base, disk, state: 'differs', tags: changed(inPlace, next) }
  if (chance < 0.945) {
    const problem = {
      kind: 'changed-value',
      label: 'owner',
      message: 'the value is longer than 256 characters; it was cut',
    }
    return { ...base, disk, state: 'tagged', tags: inPlace, problems: [problem] }
  }
  if (chance < 0.955) return { ...base, disk, state: 'partial', tags: kept(inPlace) }
  if (chance < 0.963) return { ...base, disk, state: 'missing', reason: 'disk-not-found', tags: unknown(inPlace) }
  if (chance < 0.975) return { ...base, state: 'pending', reason: 'claim-unbound', tags: [], otherTags: 0 }
  if (chance < 0.985) {
    return {
      ...base,
      state: 'skipped',
      reason: 'unsupported-volume',
      detail: 'efs.csi.aws.com',
      tags: [],
      otherTags: 0,
    }
  }
  return { ...base, disk, state: 'untagged', tags: [], missingLabels: ['team', 'cost-center'] }
}

function changed(tags: readonly TagRow[], next: () => number): readonly TagRow[] {
  const old: TagRow = { key: 'old-owner', present: 'nobody', state: 'remove' }
  const rows = tags.map(({ key, value = '' }, at): TagRow => {
    if (at === 0) return { key, value, present: value, state: 'in-place' }
    return next() < 0.6 ? { key, value, state: 'add' } : { key, value, present: 'unknown', state: 'change' }
  })
  return next() < 0.2 ? [...rows, old] : rows
}

function kept(tags: readonly TagRow[]): readonly TagRow[] {
  return tags.map((tag, at) => {
    return at === 1 ? { ...tag, present: 'production', state: 'blocked', reason: 'kept-for-others' } : tag
  })
}

function unknown(tags: readonly TagRow[]): readonly TagRow[] {
  return tags.map(({ key, value = '' }) => ({ key, value, state: 'unknown' }))
}

/** Numbers from 0 to 1 that look like chance and are always the same (mulberry32). */
export function seededChance(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
