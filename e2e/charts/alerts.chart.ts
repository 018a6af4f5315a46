import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { objectsOf, type RenderOptions } from './helm.ts'
import { apiServerMetrics, metricNames, metricsIn } from './metric-names.ts'
import { chartTools, type ChartTools } from './tools.ts'

const run = promisify(execFile)
const testsFolder = path.join(import.meta.dirname, 'alerts')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly object[] }[]
  }[]
}

describe('alerts', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  const rulesOf = async (options: RenderOptions = {}): Promise<readonly Rule[]> => {
    const set = ['prometheusRule.enabled=true', ...(options.set ?? [])]
    const objects = objectsOf(await tools.helm4.render({ ...options, set }))
    const { spec } = objects.find(({ kind }) => kind === 'PrometheusRule') as unknown as {
      readonly spec: { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
    }
    return spec.groups.flatMap(({ rules }) => rules)
  }

  it('fire when they should and keep quiet when they should, as rendered', async () => {
    const folder = path.join(tools.scratch, 'alerts')
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'all', rules: await rulesOf() }] }))
    const files = await readdir(testsFolder)
    for (const file of files) await writeFile(path.join(folder, file), await readFile(path.join(testsFolder, file)))

    await promtool(['check', 'rules', '--lint=all', '--lint-fatal', 'rules.yaml'], folder)
    await promtool(['test', 'rules', ...files], folder)
  })

  it('have a test each for both', async () => {
    const fires = new Set<string>()
    const keepsQuiet = new Set<string>()
    for (const file of await readdir(testsFolder)) {
      const { tests } = parse(await readFile(path.join(testsFolder, file), 'utf8')) as RuleTests
      for (const { alertname, exp_alerts: expected } of tests.flatMap((test) => test.alert_rule_test)) {
        const tested = expected.length > 0 ? fires : keepsQuiet
        tested.add(alertname)
      }
    }

    const names = (await rulesOf()).map(({ alert }) => alert).sort()
    expect([...fires].sort()).to.deep.equal(names)
    expect([...keepsQuiet].sort()).to.deep.equal(names)
  })

  it('ask for metrics that exist', async () => {
    const known = new Set([...metricNames(), ...apiServerMetrics])

    for (const { alert, expr } of await rulesOf()) {
      const asked = metricsIn(expr)
      expect(asked, alert).to.have.length.above(0)
      expect(
        asked.filter((name) => !known.has(name)),
        alert,
      ).to.deep.equal([])
    }
  })

  it('are only those of the programs that run', async () => {
    const names = (rules: readonly Rule[]) => rules.map(({ alert }) => alert)

    const withoutWebhook = names(await rulesOf({ set: ['webhook.enabled=false'] }))
    const withoutReconciler = names(await rulesOf({ set: ['reconciler.enabled=false'] }))

    expect(withoutWebhook).to.include('K8sCloudTaggerNoLeader').and.not.include('K8sCloudTaggerWebhookAbsent')
    expect(withoutReconciler).to.include('K8sCloudTaggerWebhookAbsent').and.not.include('K8sCloudTaggerNoLeader')
    expect(withoutWebhook).to.include('K8sCloudTaggerClaimsFail')
    expect(withoutReconciler).to.include('K8sCloudTaggerClaimsFail')
  })

  it("carry the user's labels and runbook, less those that are left out", async () => {
    const rules = await rulesOf({
      set: [
        'prometheusRule.alertLabels.team=platform',
        'prometheusRule.disabledAlerts={K8sCloudTaggerReportOnly}',
        'prometheusRule.runbookUrl=https://example.com/book',
      ],
    })

    for (const { alert, labels, annotations } of rules) {
      expect(labels, alert).to.include({ team: 'platform' }).and.have.property('severity')
      expect(annotations['runbook_url']).to.equal(`https://example.com/book#${alert.toLowerCase()}`)
    }
    expect(rules.map(({ alert }) => alert)).to.not.include('K8sCloudTaggerReportOnly')
  })

  async function promtool(args: readonly string[], cwd: string): Promise<void> {
    try {
      await run(tools.binaries.promtool, args, { cwd })
    } catch (error) {
      const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
      expect.fail(`promtool: ${stderr}${stdout}`)
    }
  }
})
