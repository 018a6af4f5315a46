import { setTimeout as sleep } from 'node:timers/promises'
import type { ClaimLedger } from '../ledger/claim-ledger.ts'
import { counted, shownMs } from '../view/text.ts'
import { diskIdFor } from '../world/demo-disks.ts'
import type { Act } from './act.ts'
import { writeCount } from './calls.ts'
import { createTaggedClaim, ensureNamespace, type NewClaim, notWrittenBy } from './cast.ts'

const webhook = /^webhook-\d+$/u

export const orders = 'shop/orders'
export const cart = 'shop/cart'
const uploads = 'media/uploads'

/** One after another, so that each is seen to come. */
const betweenClaimsMs = 500

const newClaims: readonly NewClaim[] = [
  { namespace: 'shop', name: 'orders', labels: { app: 'orders', team: 'checkout', 'cost-center': 'cc-1042' } },
  { namespace: 'shop', name: 'cart', labels: { app: 'cart', team: 'checkout', tier: 'cache' } },
  { namespace: 'media', name: 'uploads', labels: { app: 'uploads', team: 'media', 'example.com/stage': 'prod' } },
]

export function claimsAppear(): Act {
  const keys = [orders, cart, uploads]
  return {
    title: 'Claims appear and bind',
    words:
      'Three claims are created. The CSI driver makes their disks; as they bind, the webhook tags the disks with their labels.',
    expectation: 'each disk carries the labels of its claim, put there by the webhook',
    concerns: ['webhook'],
    withinMs: 8000,
    async play(stage) {
      for (const { namespace } of newClaims) await ensureNamespace(stage, namespace)
      for (const claim of newClaims) {
        await createTaggedClaim(stage, claim)
        await sleep(betweenClaimsMs)
      }
    },
    problems(stage) {
      const byOthers = notWrittenBy(stage, webhook, keys)
      // A sweep that happens to look between a bind and the webhook's first step does the work as well.
      return byOthers.length > 1 ? byOthers : []
    },
    outcome: ({ ledger }) => `${counted(keys.length, 'disk')}, ${spread(ledger, keys)} after the bind`,
  }
}

const brokers = 40

/** The claims of the set share one row. */
export function brokerGroup(key: string): string | undefined {
  return key.startsWith('log/data-kafka-') ? `log/kafka-0…${brokers - 1}` : undefined
}

export function manyClaimsAppear(): Act {
  const names = Array.from({ length: brokers }, (_, index) => `data-kafka-${index}`)
  const keys = names.map((name) => `log/${name}`)
  let writesBefore = 0
  let writes = 0
  return {
    title: `${brokers} claims appear at once`,
    words: `A set is scaled up to ${brokers} brokers. Its claims have equal labels, so one call to EC2 can tag many disks.`,
    expectation: `${brokers} disks are tagged, several by one call where they meet`,
    concerns: ['webhook'],
    withinMs: 15_000,
    async play(stage) {
      await ensureNamespace(stage, 'log')
      writesBefore = writeCount(stage.world.cloud)
      const labels = { app: 'kafka', team: 'log', 'cost-center': 'cc-2001' }
      await Promise.all(names.map((name) => createTaggedClaim(stage, { namespace: 'log', name, labels })))
    },
    problems(stage) {
      writes = writeCount(stage.world.cloud) - writesBefore
      return writes > brokers ? [`${writes} calls were made to tag ${brokers} disks`] : []
    },
    outcome: ({ ledger }) => `${brokers} disks in ${counted(writes, 'call')}, ${spread(ledger, keys)} after their bind`,
  }
}

export function claimIsRelabelled(): Act {
  return {
    title: 'A claim is relabelled',
    words: `${orders} goes to another team: its label team=checkout becomes team=payments. The tag follows.`,
    expectation: 'the tag has the new value, by the webhook',
    concerns: ['webhook'],
    withinMs: 5000,
    async play({ world, expected }) {
      expected.change(diskIdFor(orders), { team: 'payments' })
      await world.kubernetes.setLabels('shop', 'orders', { team: 'payments' })
    },
    problems: (stage) => notWrittenBy(stage, webhook, [orders]),
    outcome: ({ ledger }) => `${writtenBy(ledger, orders)} after the label`,
  }
}

export function claimLosesLabel(): Act {
  return {
    title: 'A claim loses a label',
    words: `Somebody tags the disk of ${cart} with backup=weekly by hand. Then the claim loses its label tier: that tag goes, the other stays.`,
    expectation: 'the tag of the lost label is gone, the tag of somebody else is not',
    concerns: ['webhook'],
    withinMs: 5000,
    async play({ world, expected, ledger }) {
      const disk = diskIdFor(cart)
      ledger.byHand(cart, 'backup=weekly', (cloud) => cloud.setTag(disk, 'backup', 'weekly'))
      expected.change(disk, { backup: 'weekly', tier: undefined })
      await world.kubernetes.removeLabel('shop', 'cart', 'tier')
    },
    problems: (stage) => notWrittenBy(stage, webhook, [cart]),
    outcome: ({ ledger }) => `${writtenBy(ledger, cart)} after the label went; backup=weekly is still there`,
  }
}

/** `webhook-1, 131 ms`. */
export function writtenBy(ledger: ClaimLedger, key: string): string {
  const entry = ledger.entry(key)
  return `${entry?.door ?? 'nobody'}, ${shownMs(entry?.lastWrite?.afterMs ?? 0)}`
}

/** `105 to 118 ms`, over the last writes of these claims. */
function spread(ledger: ClaimLedger, keys: readonly string[]): string {
  const times = keys.flatMap((key) => ledger.entry(key)?.lastWrite?.afterMs ?? [])
  const [fastest, slowest] = [Math.min(...times), Math.max(...times)]
  const [from, to] = [shownMs(fastest), shownMs(slowest)]
  if (from === to) return to
  return `${slowest < 1000 ? Math.round(fastest) : from} to ${to}`
}
