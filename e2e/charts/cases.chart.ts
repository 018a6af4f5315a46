import path from 'node:path'
import { expect } from 'chai'
import { objectsOf, type RenderedObject } from './helm.ts'
import { chartTools, type ChartTools } from './tools.ts'

interface Webhook {
  readonly failurePolicy: string
  readonly timeoutSeconds: number
  readonly sideEffects: string
  readonly clientConfig: { readonly caBundle?: string; readonly service?: { readonly port?: number } }
  readonly rules: readonly { readonly resources: readonly string[]; readonly operations: readonly string[] }[]
  readonly namespaceSelector: {
    readonly matchExpressions: readonly { readonly key: string; readonly values?: string[] }[]
  }
}

const values = (name: string) => [path.join(import.meta.dirname, 'values', `${name}.yaml`)]

describe('cases that broke other webhooks', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  async function rendered(name: string): Promise<readonly RenderedObject[]> {
    return objectsOf(await tools.helm4.render({ values: values(name) }))
  }

  async function webhookOf(name: string): Promise<Webhook> {
    const found = (await rendered(name)).find(({ kind }) => kind === 'ValidatingWebhookConfiguration')
    const [webhook] = (found as unknown as { webhooks: readonly Webhook[] }).webhooks
    if (webhook === undefined) throw new Error('no webhook is registered')
    return webhook
  }

  it('H1, H2: nobody is refused while it is away, and nobody waits for long', async () => {
    const { failurePolicy, timeoutSeconds } = await webhookOf('defaults')

    expect(failurePolicy).to.equal('Ignore')
    expect(timeoutSeconds).to.be.within(1, 3)
  })

  it('H3, H4: dry runs and server-side diffs are taken', async () => {
    expect((await webhookOf('defaults')).sideEffects).to.equal('NoneOnDryRun')
  })

  it('H5: no CA is rendered where somebody else fills it in, so nothing drifts', async () => {
    const { clientConfig } = await webhookOf('defaults')

    expect(clientConfig).not.to.have.property('caBundle')
    expect((await webhookOf('secret')).clientConfig.caBundle).to.be.a('string')
  })

  it('H6: no certificate is made by a template', async () => {
    const secrets = (await rendered('defaults')).filter(({ kind }) => kind === 'Secret')

    expect(secrets).to.deep.equal([])
  })

  it('H10: the selectors that AKS adds are rendered where they are asked for', async () => {
    const keys = (await webhookOf('aks-selectors')).namespaceSelector.matchExpressions.map(({ key }) => key)

    expect(keys).to.include('control-plane')
  })

  it('H11: the pods listen on a port that private control planes on GKE reach', async () => {
    const deployments = (await rendered('defaults')).filter(({ kind }) => kind === 'Deployment')

    expect(JSON.stringify(deployments)).to.include('"containerPort":10250')
  })

  it('H12: only claims are looked at, and never those of the system and of its own namespace', async () => {
    const { rules, namespaceSelector } = await webhookOf('defaults')
    const excluded = namespaceSelector.matchExpressions.flatMap(({ values: names = [] }) => names)

    expect(rules.flatMap(({ resources }) => resources)).to.deep.equal(['persistentvolumeclaims'])
    expect(excluded).to.include.members(['kube-system', 'tagging'])
  })

  it('H13: more than one replica, and each goes on serving while endpoints forget it', async () => {
    const webhook = (await rendered('defaults')).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name.endsWith('-webhook'),
    )
    const text = JSON.stringify(webhook)

    expect(text).to.include('"replicas":2')
    expect(text).to.include('"preStop":{"sleep"')
  })
})
