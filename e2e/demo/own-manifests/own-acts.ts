import { appliedAnnotation } from '@k8s-cloud-tagger/shared/claims/annotations.ts'
import { parseRecord } from '@k8s-cloud-tagger/shared/plan/record-codec.ts'
import { normalize } from '@k8s-cloud-tagger/shared/providers/aws/normalize.ts'
import type { Act, Stage } from '../acts/act.ts'
import { type ClaimEntry, isWaiting } from '../ledger/claim-entry.ts'
import type { Tags } from '../ledger/tag-differences.ts'
import { counted, shownMs } from '../view/text.ts'
import { driverTags } from '../world/demo-disks.ts'
import { createAll } from './own-cluster.ts'
import type { OwnObjects } from './own-objects.ts'

/** For a claim that has not bound by then there is no fitting volume. */
const bindingQuietMs = 3000

export function ownActs(objects: OwnObjects): readonly Act[] {
  return [start(), created(objects), bound(objects), tagged(objects)]
}

function start(): Act {
  return {
    title: 'The programs start',
    words: 'Two webhooks and a reconciler start beside an empty cluster.',
    expectation: 'all three are ready',
    concerns: ['webhook', 'reconciler'],
    withinMs: 15_000,
    play: ({ world }) => world.startPrograms(),
    outcome: () => 'all three are ready',
  }
}

function created(objects: OwnObjects): Act {
  const { claims, volumes } = objects
  const what = `${counted(claims.length, 'claim')} and ${counted(volumes.length, 'volume')}`
  return {
    title: 'Your claims are created',
    words: `${what} of yours are created. Claims that name no volume get one, as a CSI driver would make it.`,
    expectation: `${what} are stored`,
    concerns: ['webhook'],
    withinMs: 60_000,
    play: ({ world }) => createAll(world, objects),
    problems({ ledger }) {
      const missing = claims.filter(({ namespace, name }) => ledger.entry(`${namespace}/${name}`) === undefined)
      return missing.map(({ namespace, name }) => `${namespace}/${name} has not been seen`)
    },
    outcome: () => what,
  }
}

function bound({ claims }: OwnObjects): Act {
  let quietSinceMs = 0
  let unboundBefore = -1
  return {
    title: 'They bind',
    words: 'Each claim is bound to its volume, or it turns out that there is none for it.',
    expectation: 'every claim has its disk, or a reason why not',
    concerns: [],
    withinMs: 60_000,
    async play() {
      quietSinceMs = performance.now()
    },
    problems({ ledger }) {
      const unbound = ledger.entries.filter(isWaiting)
      if (unbound.length !== unboundBefore) quietSinceMs = performance.now()
      unboundBefore = unbound.length
      const isQuiet = performance.now() - quietSinceMs > bindingQuietMs
      return isQuiet ? [] : unbound.map(({ key, reason }) => `${key}: ${reason ?? ''}`)
    },
    outcome({ ledger }) {
      const withDisk = ledger.entries.filter(({ disk }) => disk !== undefined).length
      return `${withDisk} of ${counted(claims.length, 'claim')} ${withDisk === 1 ? 'has' : 'have'} a disk in EC2`
    },
  }
}

function tagged({ claims }: OwnObjects): Act {
  return {
    title: 'Their disks are tagged',
    words:
      'As each claim was bound, the webhook was called and tagged the disk. The reconciler does what the webhook is not called for.',
    expectation: 'every disk carries the labels of its claim',
    concerns: ['webhook', 'reconciler'],
    withinMs: 20_000 + claims.length * 50,
    play: async () => {},
    problems(stage) {
      const withDisk = stage.ledger.entries.filter(({ disk }) => disk !== undefined)
      for (const entry of withDisk) expectWish(stage, entry)
      return withDisk.filter((entry) => !isSettled(stage, entry)).map(({ key }) => `${key} is not settled yet`)
    },
    outcome({ ledger }) {
      const times = ledger.writes.map(({ afterMs }) => afterMs)
      const count = counted(times.length, 'disk')
      return times.length === 0
        ? 'no disk was to be tagged'
        : `${count}, the last ${shownMs(Math.max(...times))} after its bind`
    },
  }
}

/** By the product's own rule for AWS; its promises are tested elsewhere, here it is watched keeping them. */
function expectWish({ world, expected }: Stage, entry: ClaimEntry): void {
  const { disk, key, labels } = entry
  if (disk === undefined) return
  const left = recordOf(world, entry)?.left
  const { tags } = normalize(new Map(Object.entries(labels)))
  const wish = Object.fromEntries([...tags].filter(([tag]) => left?.has(tag) !== true))
  expected.expect(disk, key, { ...foreignTags(world, entry), ...wish })
}

function foreignTags({ kubernetes }: Stage['world'], { key, volumeName }: ClaimEntry): Tags {
  const [namespace = '', name = ''] = key.split('/')
  const claim = kubernetes.get('persistentvolumeclaims', name, namespace)
  return claim !== undefined && volumeName === `pvc-${claim.metadata.uid}` ? driverTags(claim) : {}
}

/** Nothing is under way any more; a claim without labels needs no record. */
function isSettled({ world }: Stage, entry: ClaimEntry): boolean {
  const record = recordOf(world, entry)
  return record === undefined ? Object.keys(entry.labels).length === 0 : record.intent === undefined
}

function recordOf({ kubernetes }: Stage['world'], { volumeName }: ClaimEntry) {
  const volume = volumeName === undefined ? undefined : kubernetes.get('persistentvolumes', volumeName)
  const parsed = parseRecord(volume?.metadata.annotations?.[appliedAnnotation])
  return parsed.kind === 'record' ? parsed.record : undefined
}
