import { expect } from 'chai'
import { parseConfig } from '@k8s-cloud-tagger/shared/config/load-config.ts'
import { rulesFor } from '@k8s-cloud-tagger/shared/config/rules-for.ts'
import { createMetrics } from '@k8s-cloud-tagger/shared/runtime/metrics.ts'
import { claim as aClaim } from '@k8s-cloud-tagger/shared/testing/builders.ts'
import { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { showMissingLabels } from './missing-labels.ts'

async function shown(config: object, claims: readonly Parameters<typeof aClaim>[0][]): Promise<readonly string[]> {
  const parsed = parseConfig(JSON.stringify(config))
  const cache = new ClusterCache('aws')
  for (const claim of claims) cache.putClaim(aClaim(claim))
  const metrics = createMetrics({ version: '0', program: 'reconciler' })
  showMissingLabels(metrics, { cache, rules: rulesFor(parsed), config: parsed })
  const lines = (await metrics.registry.metrics()).split('\n')
  return lines.filter((line) => line.startsWith('k8s_cloud_tagger_untagged_required{')).map((line) => line.slice(34))
}

const on = { metrics: { requiredByNamespace: true }, admission: { requiredLabels: ['team', 'cost'] } }

describe('required labels that are missing', () => {
  it('are shown by namespace and label', async () => {
    const claims = [
      { namespace: 'a', name: '1', labels: { team: 'x' } },
      { namespace: 'a', name: '2' },
      { namespace: 'b', name: '1', labels: { team: 'x', cost: '' } },
    ]

    expect(await shown(on, claims)).to.deep.equal(['{namespace="a",key="cost"} 2', '{namespace="a",key="team"} 1'])
  })

  it('are not counted of claims that have no disk, or are left alone', async () => {
    const claims = [{ namespace: 'a', volumeName: undefined }, { namespace: 'kube-system' }]

    expect(await shown({ ...on, scope: { namespaces: { exclude: ['kube-*'] } } }, claims)).to.deep.equal([])
  })

  it('are not shown unless somebody asks for it', async () => {
    expect(await shown({ ...on, metrics: {} }, [{ namespace: 'a' }])).to.deep.equal([])
  })

  it('are shown of the hundred namespaces with the most', async () => {
    const claims = Array.from({ length: 150 }, (_, i) => ({ namespace: `n${i}`, labels: { cost: '' } }))

    const lines = await shown(on, [...claims, { namespace: 'n149', name: 'second', labels: { cost: '' } }])

    expect(lines).to.have.length(100)
    expect(lines[0]).to.equal('{namespace="n149",key="team"} 2')
  })
})
