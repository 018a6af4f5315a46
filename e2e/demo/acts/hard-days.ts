import { diskIdFor } from '../world/demo-disks.ts'
import { headStart, sweepInterval } from '../world/world.ts'
import type { Act, Stage } from './act.ts'
import { writeCount } from './calls.ts'
import { createTaggedClaim, notWrittenBy } from './cast.ts'
import { writtenBy } from './everyday.ts'
import { putTaggedYesterday } from './known-claims.ts'

const catalog = 'shop/catalog'
const search = 'shop/search'
const ledgerClaim = 'finance/ledger'
const invoices = 'shop/invoices'

/** The claims that are there before the first act. Gives the volume that a stranger is going to name. */
export async function putKnownClaims({ world, expected }: Pick<Stage, 'world' | 'expected'>): Promise<string> {
  const put = (namespace: string, name: string, labels: Record<string, string>) =>
    putTaggedYesterday(world, expected, { namespace, name, labels, foreign: { backup: 'daily' } })
  await put('shop', 'catalog', { app: 'catalog', team: 'shop', 'cost-center': 'cc-1001' })
  await put('shop', 'search', { app: 'search', team: 'search' })
  const { volume } = await put('finance', 'ledger', { app: 'ledger', team: 'finance' })
  return volume
}

export function programsStart(): Act {
  const startedMs = performance.now()
  const known = 3
  let readyAfter = ''
  return {
    title: 'The programs start',
    words: `Two webhooks and a reconciler start. ${known} claims were tagged yesterday, as the records on their volumes say: nothing is to be done.`,
    expectation: `${known} claims are known to be right; nothing is written to the cloud`,
    concerns: ['webhook', 'reconciler'],
    withinMs: 15_000,
    async play({ world }) {
      const beganMs = performance.now()
      await world.startPrograms()
      readyAfter = ((performance.now() - Math.max(beganMs, startedMs)) / 1000).toFixed(1)
    },
    async problems({ world }) {
      const writes = writeCount(world.cloud)
      const looked = await world.reconciler.metric('reconcile_total', { outcome: 'in-sync' })
      return [
        ...(writes === 0 ? [] : [`${writes} writes to the cloud were made, none was due`]),
        ...(looked >= known ? [] : [`the reconciler has looked at ${looked} of ${known} claims`]),
      ]
    },
    outcome: () => `ready after ${readyAfter} s, nothing written`,
  }
}

export function strangersClaims(volume: string): Act {
  return {
    title: 'Two claims that get nothing',
    words: `One claim gets an EFS volume, which is no EBS disk. Another one, of a stranger, names the volume of ${ledgerClaim} as its own.`,
    expectation: `both are skipped for the right reason, and the disk of ${ledgerClaim} is as it was`,
    concerns: ['reconciler'],
    withinMs: 10_000,
    async play({ world: { kubernetes } }) {
      const shared = { app: 'gallery', team: 'media' }
      const stranger = { team: 'sandbox', owner: 'mallory' }
      await kubernetes.createClaim({
        namespace: 'media',
        name: 'shared',
        labels: shared,
        storageClassName: 'efs',
      })
      await kubernetes.createClaim({
        namespace: 'sandbox',
        name: 'mine',
        labels: stranger,
        storageClassName: 'gp3',
        volumeName: volume,
      })
    },
    async problems({ world: { reconciler } }) {
      const reasons = ['unsupported-volume', 'volume-of-another-claim']
      const counts = await Promise.all(
        reasons.map((reason) => reconciler.metric('claims', { state: 'skipped', reason })),
      )
      return reasons
        .filter((_, index) => counts[index] !== 1)
        .map((reason) => `the reconciler's metrics show no claim that is skipped as ${reason}`)
    },
    outcome: () => 'skipped, each with its reason',
  }
}

export function tagsAreChangedByHand(): Act {
  return {
    title: 'Tags are changed by hand',
    words: `Somebody changes three tags of ${catalog} in the cloud: team, cost-center, and backup, which is not ours. Every ${sweepInterval} a sweep looks.`,
    expectation: 'a sweep puts our two tags right and leaves the third alone',
    concerns: ['reconciler'],
    withinMs: 30_000,
    async play({ ledger, expected }) {
      ledger.byHand(catalog, 'team=nobody, backup=never; removed cost-center', (cloud, disk) => {
        cloud.setTag(disk, 'team', 'nobody')
        cloud.setTag(disk, 'backup', 'never')
        cloud.deleteTag(disk, 'cost-center')
      })
      expected.change(diskIdFor(catalog), { backup: 'never' })
    },
    problems: (stage) => notWrittenBy(stage, /^sweep$/u, [catalog]),
    outcome: ({ ledger }) => `${writtenBy(ledger, catalog)} after the change; backup was left alone`,
  }
}

export function webhookIsAway(): Act {
  return {
    title: 'Both webhooks are stopped',
    words: `Meanwhile a claim is created and ${search} is relabelled: nobody refuses that, and the reconciler does it after a head start of ${headStart}.`,
    expectation: 'the reconciler tags both',
    concerns: ['reconciler', 'webhook'],
    withinMs: 20_000,
    async play(stage) {
      const { world, expected } = stage
      await world.stopWebhooks()
      await createTaggedClaim(stage, {
        namespace: 'shop',
        name: 'invoices',
        labels: { app: 'invoices', team: 'billing' },
      })
      expected.change(diskIdFor(search), { team: 'discovery' })
      await world.kubernetes.setLabels('shop', 'search', { team: 'discovery' })
    },
    problems: (stage) => notWrittenBy(stage, /^reconciler$/u, [invoices, search]),
    outcome: ({ ledger }) => `${writtenBy(ledger, invoices)} after the bind`,
  }
}

export function webhookIsBack(): Act {
  return {
    title: 'The webhooks are back',
    words: `They are started again, and ${invoices} is relabelled: team=billing becomes team=finance. The tag follows at once.`,
    expectation: 'the tag has the new value, by the webhook again',
    concerns: ['webhook'],
    withinMs: 15_000,
    async play({ world, expected }) {
      await world.startWebhooks()
      expected.change(diskIdFor(invoices), { team: 'finance' })
      await world.kubernetes.setLabels('shop', 'invoices', { team: 'finance' })
    },
    problems: (stage) => notWrittenBy(stage, /^webhook-\d+$/u, [invoices]),
    outcome: ({ ledger }) => `${writtenBy(ledger, invoices)} after the label`,
  }
}
