import type { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { type Tags, tagProblems } from '../ledger/tag-differences.ts'

/** How every disk has to look now, tags of others included. */
export class ExpectedDisks {
  readonly #cloud: Pick<Ec2Fake, 'hasVolume' | 'tagsOf'>
  readonly #byDisk = new Map<string, { readonly claim: string; tags: Tags }>()

  constructor(cloud: Pick<Ec2Fake, 'hasVolume' | 'tagsOf'>) {
    this.#cloud = cloud
  }

  get size(): number {
    return this.#byDisk.size
  }

  /** From now on this disk has these tags and no other. */
  expect(disk: string, claim: string, tags: Tags): void {
    this.#byDisk.set(disk, { claim, tags })
  }

  /** As before, but for these keys; undefined takes one away. */
  change(disk: string, changes: Readonly<Record<string, string | undefined>>): void {
    const expected = this.#byDisk.get(disk)
    if (expected === undefined) throw new Error(`Nothing was expected of ${disk} so far`)
    const merged = Object.entries({ ...expected.tags, ...changes })
    expected.tags = Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  problems(): readonly string[] {
    return [...this.#byDisk].flatMap(([disk, { claim, tags }]) => {
      if (!this.#cloud.hasVolume(disk)) return [`${disk} of ${claim} is not there`]
      return tagProblems(`${disk} of ${claim}`, tags, this.#cloud.tagsOf(disk))
    })
  }

  /** How many disks are not as expected. */
  wrongCount(): number {
    return [...this.#byDisk].filter(
      ([disk, { claim, tags }]) =>
        !this.#cloud.hasVolume(disk) || tagProblems(claim, tags, this.#cloud.tagsOf(disk)).length > 0,
    ).length
  }
}
