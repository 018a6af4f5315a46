import type { Ec2Fake } from '@k8s-cloud-tagger/shared/testing/ec2/ec2-fake.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Resolves to the wall time (ms) at which the disk got these tags, as the fake wrote it down when the write took effect.
 * Rejects after `timeoutMs`, with what the disk has instead.
 */
export async function taggedAt(
  ec2: Ec2Fake,
  disk: string,
  wish: Readonly<Record<string, string>>,
  timeoutMs = 20_000,
): Promise<number> {
  const untilMs = performance.now() + timeoutMs
  while (performance.now() < untilMs) {
    const tags = ec2.hasVolume(disk) ? ec2.tagsOf(disk) : {}
    if (Object.entries(wish).every(([key, value]) => tags[key] === value)) return ec2.changedAtMs(disk) ?? Date.now()
    await sleep(5)
  }
  const found = JSON.stringify(ec2.hasVolume(disk) ? ec2.tagsOf(disk) : 'no such disk')
  throw new Error(`${disk} did not get ${JSON.stringify(wish)} within ${timeoutMs} ms; it has ${found}`)
}
