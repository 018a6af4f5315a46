import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { HelmError, type RenderedObject } from './helm.ts'
import { render, renderWith } from './identity-renders.ts'
import { identityValueFiles, isIdentity, withStrangeField } from './identity.ts'
import { faultsOf } from './kubeconform.ts'
import { chartTools, type ChartTools } from './tools.ts'

const ack = { enabled: true, accountId: '123456789012', oidcIssuerUrl: 'https://issuer.example.com' }
const aso = {
  enabled: true,
  resourceGroup: 'g',
  location: 'l',
  subscriptionId: 's',
  oidcIssuerUrl: 'https://i.example.com',
}
const wrong: readonly (readonly [when: string, values: object, names: readonly string[]])[] = [
  [
    'a role has no name',
    { cloudProvider: 'aws', aws: { controllersKubernetes: ack } },
    ['clusterName', 'aws.controllersKubernetes.roleName'],
  ],
  [
    'an account is missing',
    { cloudProvider: 'aws', clusterName: 'c', aws: { controllersKubernetes: { ...ack, accountId: '' } } },
    ['aws.controllersKubernetes.accountId'],
  ],
  [
    'an issuer is missing',
    { cloudProvider: 'aws', clusterName: 'c', aws: { controllersKubernetes: { ...ack, oidcIssuerUrl: '' } } },
    ['aws.controllersKubernetes.oidcIssuerUrl'],
  ],
  [
    'an account has quotes in it, as the guide of 0.4.0 wrote it',
    { aws: { controllersKubernetes: { accountId: '"123456789012"' } } },
    ['aws.controllersKubernetes.accountId'],
  ],
  [
    'an account lost its zero',
    { aws: { controllersKubernetes: { accountId: 12_345_678_901 } } },
    ['aws.controllersKubernetes.accountId'],
  ],
  [
    'a role is made and given',
    {
      cloudProvider: 'aws',
      clusterName: 'c',
      aws: { roleArn: 'arn:aws:iam::123456789012:role/r', controllersKubernetes: ack },
    },
    ['aws.roleArn', 'aws.controllersKubernetes.enabled'],
  ],
  [
    'IRSA and Pod Identity are both asked for',
    {
      cloudProvider: 'aws',
      clusterName: 'c',
      aws: { controllersKubernetes: { ...ack, podIdentity: { enabled: true } } },
    },
    ['aws.controllersKubernetes.oidcIssuerUrl', 'aws.controllersKubernetes.podIdentity.enabled'],
  ],
  ['a project is missing', { cloudProvider: 'gcp', gcp: { configConnector: { enabled: true } } }, ['gcp.projectId']],
  [
    'a project has no number, and no account is named',
    { cloudProvider: 'gcp', gcp: { projectId: 'p', configConnector: { enabled: true } } },
    ['gcp.projectNumber', 'gcp.serviceAccount'],
  ],
  [
    'a custom role has no name',
    { cloudProvider: 'gcp', gcp: { projectId: 'p', projectNumber: '1', configConnector: { enabled: true } } },
    ['clusterName', 'gcp.configConnector.customRoleName', 'gcp.configConnector.existingRole'],
  ],
  [
    'a resource group is missing',
    { cloudProvider: 'azure', azure: { serviceOperator: { ...aso, resourceGroup: '' } } },
    ['clusterName', 'azure.identityName'],
  ],
  [
    'a resource group is missing and the cluster has a name',
    { cloudProvider: 'azure', clusterName: 'c', azure: { serviceOperator: { ...aso, resourceGroup: '' } } },
    ['azure.serviceOperator.resourceGroup'],
  ],
  [
    'nobody said where the disks are',
    { cloudProvider: 'azure', clusterName: 'c', azure: { serviceOperator: aso } },
    ['azure.serviceOperator.diskResourceGroups'],
  ],
  [
    'a policy is unknown',
    { gcp: { configConnector: { deletionPolicy: 'keep' } } },
    ['gcp.configConnector.deletionPolicy'],
  ],
  ['a key is unknown', { azure: { serviceOperator: { oidcIssuer: 'x' } } }, ['azure.serviceOperator', 'oidcIssuer']],
]

describe('identities in the cloud', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  const refusal = async (more: object) => {
    try {
      await renderWith(tools, more)
    } catch (error) {
      if (error instanceof HelmError) return error.message
      throw error
    }
    return expect.fail('it was rendered')
  }

  for (const [when, more, names] of wrong) {
    it(`are refused, with the path, when ${when}`, async () => {
      const message = (await refusal(more)).replaceAll('/', '.')

      for (const name of names) expect(message).to.include(name)
    })
  }

  it('are checked by schemas that refuse a field they do not know', async () => {
    const objects = new Map<string, RenderedObject>()
    for (const file of identityValueFiles) {
      for (const object of (await render(tools, { values: [file] })).filter(isIdentity))
        objects.set(object.kind, object)
    }
    const file = path.join(tools.scratch, 'unknown-fields.yaml')
    const strange = [...objects.values()].map(withStrangeField)
    await writeFile(file, strange.map((object) => stringify(object)).join('---\n'))

    const faults = await faultsOf(tools.binaries.kubeconform, { ...tools, files: [file] })

    expect([...objects.keys()].toSorted()).to.deep.equal([
      'FederatedIdentityCredential',
      'IAMCustomRole',
      'IAMPolicyMember',
      'IAMServiceAccount',
      'PodIdentityAssociation',
      'ResourceGroup',
      'Role',
      'RoleAssignment',
      'UserAssignedIdentity',
    ])
    expect(faults).to.have.length(objects.size)
    for (const fault of faults) expect(fault).to.include('surprise')
  })
})
