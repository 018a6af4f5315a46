import type { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { counted } from '../view/text.ts'

export interface Calls {
  readonly kind: string
  readonly calls: number
  /** Named in these calls, all together. */
  readonly disks: number
}

/** Writes first, as they are the ones that cost. */
const kinds = ['CreateTags', 'DeleteTags', 'DescribeVolumes']

export function cloudCalls(cloud: Pick<Ec2Fake, 'counts'>): readonly Calls[] {
  const counts = cloud.counts()
  const others = Object.keys(counts).filter((kind) => !kinds.includes(kind))
  return [...kinds, ...others].map((kind) => ({
    kind,
    calls: counts[kind]?.calls ?? 0,
    disks: counts[kind]?.disks ?? 0,
  }))
}

export function briefCalls(calls: readonly Calls[]): string {
  return calls.map(({ kind, calls: count }) => `${count} ${kind}`).join(', ')
}

export function describeCalls(calls: readonly Calls[]): string {
  return calls.map(({ kind, calls: count, disks }) => `${count} ${kind} (${counted(disks, 'disk')})`).join(', ')
}

export function writeCount(cloud: Pick<Ec2Fake, 'counts'>): number {
  return cloudCalls(cloud)
    .filter(({ kind }) => kind !== 'DescribeVolumes')
    .reduce((sum, { calls }) => sum + calls, 0)
}
