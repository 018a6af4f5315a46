import { survivesLateWrite } from './late-write.ts'
import { Lives, tagsAfter } from './lives.ts'
import { steps } from './kill-at.ts'
import type { Death } from './kill-at.ts'

const everyDeath: readonly Death[] = steps.flatMap((step) => [
  { step, moment: 'before' },
  { step, moment: 'after' },
])

describe('what can happen in the middle of a change:', function () {
  this.timeout(60_000)

  const webhook = new Lives({
    deaths: everyDeath,
    config: { reconciler: { headStart: '3s' } },
    beside: (installation) => installation.reconciler(),
    start: async (installation) => {
      const webhook = await installation.webhook()
      await installation.register(webhook.webhookPort)
      return webhook
    },
    afterwards: async (installation, claim) => {
      await installation.kubernetes.setLabels('db', claim, { stage: 'two' })
      return { ...tagsAfter, stage: 'two' }
    },
  })
  const reconciler = new Lives({
    // It reads no single object: its watches have told it.
    deaths: everyDeath.filter(({ step }) => !step.startsWith('GET')),
    config: { webhook: { enabled: false } },
    beside: () => Promise.resolve(),
    start: (installation) => installation.reconciler(),
    afterwards: () => Promise.resolve(tagsAfter),
  })

  // They wait most of the time, so they do it together.
  let lateWrite: Promise<void>
  before(() => {
    webhook.begin()
    reconciler.begin()
    lateWrite = survivesLateWrite()
    lateWrite.catch(() => undefined)
  })

  after(() => Promise.all([webhook.stop(), reconciler.stop()]))

  describe('the webhook is killed, its claim loses a label, and it is started again beside a reconciler:', () => {
    for (const death of webhook.deaths) {
      it(`it goes on rightly when it died ${death.moment} ${death.step}`, () => webhook.end(death))
    }

    it('it leaves no record open, and knows in each what was there before', () =>
      webhook.everyRecordIsClosed({
        env: { value: 'prod', before: true },
        stage: { value: 'two', before: false },
      }))
  })

  describe('the reconciler is killed, its claim loses a label, and it is started again:', () => {
    for (const death of reconciler.deaths) {
      it(`it goes on rightly, and by itself, when it died ${death.moment} ${death.step}`, () => reconciler.end(death))
    }

    it('it leaves no record open, and knows in each what was there before', () =>
      reconciler.everyRecordIsClosed({ env: { value: 'prod', before: true } }))
  })

  describe('two webhooks, one of whose writes lands when it has long been given up,', () => {
    it('leave no tag behind whose label was removed through the other one meanwhile', () => lateWrite)
  })
})
