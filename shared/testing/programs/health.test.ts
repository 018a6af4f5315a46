import { expect } from 'chai'
import { eventually } from './eventually.ts'
import { Installation } from './installation.ts'
import type { RunningProgram } from './running-program.ts'
import { SecretFolder } from './secret-folder.ts'

const prefix = 'k8s_cloud_tagger_'
/** What only the other program has anything to say about, or nobody before there is something to name. */
const othersOwn = {
  webhook: ['claims', 'sweeps_total', 'watch_restarts', 'untagged_required', 'removals_held', 'rules_info'],
  reconciler: [
    'reviews_total',
    'mutations_total',
    'admission_problems_total',
    'certificate_reloads_total',
    'untagged_required',
    'removals_held',
  ],
}

describe('what the programs say about themselves', function () {
  this.timeout(30_000)
  let installation: Installation
  let secret: SecretFolder

  before(async () => {
    installation = await Installation.start()
    secret = await SecretFolder.create()
    await secret.makeFolder()
  })

  after(async () => {
    await installation.stop()
    await secret.delete()
  })

  function untilListening(program: RunningProgram): Promise<void> {
    return eventually(
      () => `${program.name} to listen\n${program.process.lastWords}`,
      () =>
        program.get('/healthz').then(
          () => true,
          () => false,
        ),
      20_000,
    )
  }

  async function families(program: RunningProgram) {
    const { text } = await program.get('/metrics')
    const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name)
    const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const empty = names.filter((name) => !samples.some((line) => line.startsWith(name)))
    return { names, samples, empty }
  }

  it('the webhook is alive and not ready without a certificate, and ready when it has one', async () => {
    const config = { webhook: { certificateDirectory: secret.path } }
    const webhook = await installation.launch('webhook', { config })
    await untilListening(webhook)

    expect(await webhook.get('/healthz')).to.deep.equal({ status: 200, text: 'ok\n' })
    const waiting = await webhook.get('/readyz')
    expect(waiting.status).to.equal(503)
    expect(waiting.text).to.equal(`webhook: no certificate in ${secret.path} yet\n`)

    await secret.swap(await installation.issueCertificate())

    await webhook.ready()
    expect((await webhook.get('/readyz')).text).to.equal('ok\n')
    expect(await webhook.metric('certificate_expiry_timestamp_seconds')).to.be.above(Date.now() / 1000)
    const { names, empty } = await families(webhook)
    expect(names.filter((name) => !name.startsWith(prefix))).to.deep.equal([])
    expect(empty).to.have.members(othersOwn.webhook.map((name) => prefix + name))
  })

  it('the reconciler is not ready before it has read everything, and a standby is as ready as the leader', async () => {
    const { kubernetes } = installation
    kubernetes.failNext(1, ({ verb, type }) => verb === 'list' && type.plural === 'persistentvolumes', {
      kind: 'delay',
      delayMs: 1500,
    })
    const first = await installation.launch('reconciler', { name: 'reconciler-0' })
    await untilListening(first)

    expect(await first.get('/readyz')).to.deep.equal({
      status: 503,
      text: 'reconciler: claims and volumes are not all read yet\n',
    })
    expect((await first.get('/healthz')).status).to.equal(200)
    await first.ready()
    await eventually('the first one to lead', async () => (await first.metric('leader')) === 1)

    const second = await installation.reconciler({ name: 'reconciler-1' })
    expect(await second.metric('leader')).to.equal(0)
    const { names, empty } = await families(first)
    expect(names.filter((name) => !name.startsWith(prefix))).to.deep.equal([])
    expect(empty).to.have.members(othersOwn.reconciler.map((name) => prefix + name))
    // A standby speaks to no cloud, so it has no budget to show.
    const { samples } = await families(second)
    const quiet = /^k8s_cloud_tagger_(build_info|rules_info|kubernetes_calls_total|cloud_rate_per_second)/
    expect(samples.filter((line) => !line.endsWith(' 0') && !quiet.test(line))).to.deep.equal([])
  })
})
