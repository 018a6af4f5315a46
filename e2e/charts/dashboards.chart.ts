import { expect } from 'chai'
import { objectsOf } from './helm.ts'
import { kubeletMetrics, metricNames, metricsIn } from './metric-names.ts'
import { chartTools, type ChartTools } from './tools.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly datasource?: { readonly uid: string }
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[]
}

interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] }
  readonly panels: readonly Panel[]
}

describe('dashboards', () => {
  let tools: ChartTools
  let dashboards: readonly Dashboard[]
  before('has the tools', async () => {
    tools = await chartTools()
    const objects = objectsOf(await tools.helm4.render({ set: ['dashboards.enabled=true'] }))
    const texts = objects.flatMap(({ kind, metadata, data }) =>
      kind === 'ConfigMap' && metadata.name.includes('-dashboard-')
        ? Object.values(data as Record<string, string>)
        : [],
    )
    dashboards = texts.map((text) => JSON.parse(text) as Dashboard)
  })

  it('are one for a cluster and one for the fleet', () => {
    expect(dashboards.map(({ uid }) => uid)).to.deep.equal(['k8s-cloud-tagger-cluster', 'k8s-cloud-tagger-fleet'])
  })

  it('ask for metrics that exist', () => {
    const known = new Set<string>([...metricNames(), ...kubeletMetrics])

    for (const { title, panels, templating } of dashboards) {
      const expressions = [
        ...panels.flatMap((panel) => (panel.targets ?? []).map(({ expr }) => expr)),
        ...templating.list.flatMap(({ definition = [] }) => definition),
      ]
      for (const expression of expressions) {
        const asked = metricsIn(expression)
        expect(asked, `${title}: ${expression}`).to.have.length.above(0)
        expect(
          asked.filter((name) => !known.has(name)),
          `${title}: ${expression}`,
        ).to.deep.equal([])
      }
    }
  })

  it('show every gauge that tells of a need to act', () => {
    const needs = [
      'claims',
      'oldest_pending_seconds',
      'untagged_required',
      'removal_brake',
      'report_only',
      'cloud_scope_slow',
      'missed_by_webhook_total',
      'certificate_expiry_timestamp_seconds',
      'leader',
      'last_sweep_timestamp_seconds',
    ]

    for (const { title, panels } of dashboards) {
      const asked = new Set(panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => metricsIn(expr))))
      for (const need of needs) expect(asked.has(`k8s_cloud_tagger_${need}`), `${title}: ${need}`).to.equal(true)
    }
  })

  it('can be read by Grafana: known variables, ids once, nothing on top of something else', () => {
    for (const { title, panels, templating } of dashboards) {
      const variables = new Set([...templating.list.map(({ name }) => name), '__rate_interval'])
      const ids = panels.map(({ id }) => id)
      expect(new Set(ids).size, title).to.equal(ids.length)
      for (const panel of panels) {
        const used = JSON.stringify(panel).matchAll(/\$\{?(?<name>[A-Za-z_]+)/gu)
        for (const { groups } of used) expect(variables, panel.title).to.include(groups?.['name'])
        if (panel.type !== 'row') expect(panel.description, panel.title).to.be.a('string').that.is.not.equal('')
        expect(panel.gridPos.x + panel.gridPos.w, panel.title).to.be.at.most(24)
        for (const other of panels) expect(other !== panel && overlap(panel, other), panel.title).to.equal(false)
      }
    }
  })
})

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
