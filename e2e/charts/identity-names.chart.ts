import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import type { RenderedObject } from './helm.ts'
import { identityValues, render, renderWith } from './identity-renders.ts'
import { at, isIdentity, namesOf, roleOf } from './identity.ts'
import { faultsOf } from './kubeconform.ts'
import { chartTools, type ChartTools } from './tools.ts'

describe('identities of many clusters', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  const partitions: readonly (readonly [region: string, partition: string])[] = [
    ['eu-west-1', 'aws'],
    ['us-east-1', 'aws'],
    ['cn-northwest-1', 'aws-cn'],
    ['us-gov-east-1', 'aws-us-gov'],
    ['us-iso-east-1', 'aws-iso'],
    ['us-isob-east-1', 'aws-iso-b'],
    ['eusc-de-east-1', 'aws-eusc'],
  ]
  for (const [region, partition] of partitions) {
    it(`name everything in the partition of ${region}, which is ${partition}`, async () => {
      const issuer = `https://oidc.eks.${region}.amazonaws.com/id/EXAMPLE`
      const byConfig = await renderWith(tools, { config: { aws: { region } } }, { values: [identityValues('ack')] })
      const stack = { controllersKubernetes: { oidcIssuerUrl: issuer } }
      const byIssuer = await renderWith(tools, { aws: stack }, { values: [identityValues('ack')] })

      for (const objects of [byConfig, byIssuer]) {
        const arns = JSON.stringify(objects).match(/arn:[a-z-]+:/gu) ?? []
        expect([...new Set(arns)]).to.deep.equal([`arn:${partition}:`])
        expect(arns.length).to.be.at.least(4)
      }
    })
  }

  it('have numbers as they were written, in quotes or without', async () => {
    const id = 123_456_789_012
    for (const given of [id, String(id)]) {
      const more = { aws: { controllersKubernetes: { accountId: given } }, gcp: { projectNumber: given } }

      const role = roleOf(await renderWith(tools, more, { values: [identityValues('ack')] }))
      const bound = await renderWith(tools, more, { values: [identityValues('config-connector')] })

      expect(at(role, 'spec', 'assumeRolePolicyDocument')).to.include(`arn:aws:iam::${id}:oidc-provider/`)
      const members = bound.map(({ spec }) => at(spec, 'member')).filter((member) => member !== undefined)
      expect(members).to.have.length(2)
      for (const member of members)
        expect(member).to.include(`principal://iam.googleapis.com/projects/${id}/locations/`)
    }
  })

  it('have nothing in common between two clusters of one account', async () => {
    const inTheCloud = (objects: readonly RenderedObject[]) =>
      objects
        .filter((object) => isIdentity(object) && object.kind !== 'ResourceGroup')
        .flatMap(({ spec }) => [at(spec, 'name'), at(spec, 'resourceID'), at(spec, 'azureName')])
        .filter((name) => name !== undefined)
    for (const stack of ['ack', 'pod-identity', 'config-connector', 'service-operator']) {
      const names = async (clusterName: string) => {
        const issuer = `https://issuer.example.com/${clusterName}`
        const azure = { serviceOperator: { oidcIssuerUrl: issuer } }
        return inTheCloud(await renderWith(tools, { clusterName, azure }, { values: [identityValues(stack)] }))
      }

      const all = [...(await names('one')), ...(await names('two')), ...(await names('o.ne')), ...(await names('o-ne'))]

      expect(all.length, stack).to.be.at.least(4)
      expect(new Set(all).size, stack).to.equal(all.length)
    }
  })

  it('fit into what a cloud takes for a name, however long the cluster is called', async () => {
    const clusterName = `Prod/Ünïcode ${'x'.repeat(80)}`
    for (const stack of ['ack', 'config-connector', 'service-operator']) {
      const file = path.join(tools.scratch, 'long-name.yaml')
      const more = path.join(tools.scratch, 'long-name-values.yaml')
      await writeFile(more, stringify({ clusterName }))
      await writeFile(
        file,
        await tools.helm4.render({ release: 'a'.repeat(53), values: [identityValues(stack), more] }),
      )

      expect(await faultsOf(tools.binaries.kubeconform, { ...tools, files: [file] }), stack).to.deep.equal([])
    }
  })

  it('leave alone on uninstall what other clusters may use, and take along what is only theirs', async () => {
    const policies = async (stack: string) =>
      (await render(tools, { values: [identityValues(stack)] }))
        .filter(isIdentity)
        .map(({ metadata }) => metadata.annotations ?? {})

    const [own] = await policies('ack')
    const [named] = await policies('ack-0.4.0')
    expect(own).to.include({ 'services.k8s.aws/deletion-policy': 'delete' })
    expect(named).to.include({ 'services.k8s.aws/deletion-policy': 'retain' })
    for (const annotations of await policies('config-connector')) {
      expect(annotations).to.include({ 'cnrm.cloud.google.com/deletion-policy': 'abandon' })
    }
    for (const annotations of await policies('service-operator')) {
      expect(annotations).to.include({ 'serviceoperator.azure.com/reconcile-policy': 'detach-on-delete' })
    }
  })

  it('start pods on Azure with the id of an identity that is only being made', async () => {
    const objects = await render(tools, { values: [identityValues('service-operator')] })

    const identity = objects.find(({ kind }) => kind === 'UserAssignedIdentity')
    const written = at(identity, 'spec', 'operatorSpec', 'configMaps', 'clientId')
    for (const deployment of objects.filter(({ kind }) => kind === 'Deployment')) {
      const env = at(deployment, 'spec', 'template', 'spec', 'containers', 0, 'env')
      expect(env).to.deep.include({ name: 'AZURE_CLIENT_ID', valueFrom: { configMapKeyRef: written } })
      const labels = at(deployment, 'spec', 'template', 'metadata', 'labels')
      expect(labels).to.include({ 'azure.workload.identity/use': 'true' })
    }
    const assignments = objects.filter(({ kind }) => kind === 'RoleAssignment')
    const scopes = new Set(assignments.map(({ spec }) => at(spec, 'owner', 'armId')))
    const subscription = '/subscriptions/00000000-1111-2222-3333-444444444444'
    expect([...scopes]).to.deep.equal([
      `${subscription}/resourceGroups/MC_prod_prod-eu-1_westeurope`,
      `${subscription}/resourceGroups/Data.Disks`,
    ])
  })

  it('are wholly absent where they were not asked for, and for another cloud', async () => {
    const asked = { values: [identityValues('ack')], set: ['cloudProvider=gcp'] }

    for (const options of [{}, asked]) expect((await render(tools, options)).filter(isIdentity)).to.deep.equal([])
    expect(namesOf(await render(tools, {}), 'ServiceAccount')).to.have.length(2)
  })
})
