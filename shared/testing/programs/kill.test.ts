import { Lives, labels, tagsBefore } from './lives.ts'
import { steps } from './kill-at.ts'
import type { Death } from './kill-at.ts'

const everyDeath: readonly Death[] = steps.flatMap((step) => [
  { step, moment: 'before' },
  { step, moment: 'after' },
])

describe('a program that is killed at any step of a change and started again under its name', function () {
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
      return { ...tagsBefore, ...labels, stage: 'two' }
    },
  })
  const reconciler = new Lives({
    // It reads no single object: its watches have told it.
    deaths: everyDeath.filter(({ step }) => !step.startsWith('GET')),
    config: { webhook: { enabled: false } },
    beside: () => Promise.resolve(),
    start: (installation) => installation.reconciler(),
    afterwards: () => Promise.resolve({ ...tagsBefore, ...labels }),
  })

  before(() => {
    webhook.begin()
    reconciler.begin()
  })

  after(() => Promise.all([webhook.stop(), reconciler.stop()]))

  describe('the webhook, beside a reconciler,', () => {
    for (const death of webhook.deaths) {
      it(`goes on rightly when it dies ${death.moment} ${death.step}`, () => webhook.end(death))
    }

    it('leaves no record open, and knows in each what was there before', () =>
      webhook.everyRecordIsClosed({
        team: { value: 'core', before: false },
        env: { value: 'prod', before: true },
        stage: { value: 'two', before: false },
      }))
  })

  describe('the reconciler alone', () => {
    for (const death of reconciler.deaths) {
      it(`goes on rightly, and by itself, when it dies ${death.moment} ${death.step}`, () => reconciler.end(death))
    }

    it('leaves no record open, and knows in each what was there before', () =>
      reconciler.everyRecordIsClosed({ team: { value: 'core', before: false }, env: { value: 'prod', before: true } }))
  })
})
