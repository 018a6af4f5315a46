import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { HelmError, objectsOf, type RenderedObject } from './helm.ts'
import { at, isIdentity, roleOf } from './identity.ts'
import { chartTools, type ChartTools } from './tools.ts'

const today = path.join(import.meta.dirname, 'today')
const release = 'k8s-cloud-tagger'

/** What an API server or an operator refuses to change, by kind. */
const immutable: Readonly<Record<string, readonly (readonly string[])[]>> = {
  ClusterRoleBinding: [['roleRef']],
  RoleBinding: [['roleRef']],
  Deployment: [['spec', 'selector']],
  Role: [['spec', 'name']],
  IAMServiceAccount: [['spec', 'resourceID']],
  IAMCustomRole: [['spec', 'resourceID']],
  IAMPolicyMember: [['spec']],
  ResourceGroup: [['spec']],
  UserAssignedIdentity: [
    ['spec', 'azureName'],
    ['spec', 'owner'],
    ['spec', 'location'],
  ],
  FederatedIdentityCredential: [
    ['spec', 'azureName'],
    ['spec', 'owner'],
  ],
  RoleAssignment: [['spec']],
}

/** Each as the one-line question that its guide answers: what has to be written out first. */
const clouds: readonly { readonly cloud: string; readonly asks: string }[] = [
  { cloud: 'aws', asks: 'aws.controllersKubernetes.roleName (0.4.0 had: k8s-cloud-tagger)' },
  { cloud: 'gcp', asks: 'gcp.serviceAccount (0.4.0 had: k8s-cloud-tagger)' },
  { cloud: 'azure', asks: 'azure.identityName (0.4.0 had: k8s-cloud-tagger-identity)' },
]

describe('an upgrade from 0.4.0', () => {
  let tools: ChartTools
  before('has the tools', async () => {
    tools = await chartTools()
  })

  const render = async (values: readonly string[]) =>
    objectsOf(
      await tools.helm4.render({ release, namespace: release, values: values.map((file) => path.join(today, file)) }),
    )

  for (const { cloud, asks } of clouds) {
    it(`is refused where a name that 0.4.0 chose is not written out, and says which: ${cloud}`, async () => {
      const refusal = await render([`values/${cloud}.yaml`]).catch((error: unknown) => error)

      expect(refusal).to.be.instanceOf(HelmError)
      expect(String(refusal)).to.include(asks)
    })

    it(`changes nothing that cannot be changed, and deletes nothing in the cloud: ${cloud}`, async () => {
      const before = [...objectsIn(`${cloud}.yaml`), ...objectsIn('core.yaml')]

      const after = await render([`values/${cloud}.yaml`, `steps/${cloud}.yaml`])

      const gone: RenderedObject[] = []
      for (const object of before) {
        const same = after.find((one) => idOf(one) === idOf(object))
        if (same === undefined) gone.push(object)
        for (const keys of immutable[object.kind] ?? []) {
          if (same !== undefined)
            expect(at(same, ...keys), `${idOf(object)} ${keys.join('.')}`).to.deep.equal(at(object, ...keys))
        }
      }
      // An object that goes takes what it stands for with it, unless it was told not to.
      expect(
        gone
          .filter(isIdentity)
          .filter((object) => !isDetached(object))
          .map(idOf),
      ).to.deep.equal([])
      expect(before.filter(isIdentity)).to.have.length.above(0)
    })

    it(`leaves what stays so that a later uninstall does not delete it either: ${cloud}`, async () => {
      const shared = new Set(objectsIn(`${cloud}.yaml`).map(idOf))

      const after = await render([`values/${cloud}.yaml`, `steps/${cloud}.yaml`])

      const kept = after.filter((object) => shared.has(idOf(object)))
      expect(kept).to.have.length.above(0)
      expect(kept.filter((object) => !isDetached(object)).map(idOf)).to.deep.equal([])
    })
  }

  it('finds the objects of a long name again, which 0.4.0 cut at 63 characters', async () => {
    const long = 'a'.repeat(53)
    const values = ['values/aws.yaml', 'steps/aws.yaml'].map((file) => path.join(today, file))

    const objects = objectsOf(await tools.helm4.render({ release: long, namespace: release, values }))

    expect(roleOf(objects)?.metadata.name).to.equal(`${`${long}-k8s-cloud-tagger`.slice(0, 63)}-role`)
  })

  it('finds the workloads of 0.4.0 in no way of the new ones', async () => {
    const after = await render(['values/gcp.yaml', 'steps/gcp.yaml'])

    const deployments = after.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name)
    expect(deployments.toSorted()).to.deep.equal([`${release}-reconciler`, `${release}-webhook`])
  })
})

function objectsIn(file: string): readonly RenderedObject[] {
  return objectsOf(readFileSync(path.join(today, file), 'utf8'))
}

function idOf({ apiVersion, kind, metadata }: RenderedObject): string {
  return `${apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`
}

function isDetached({ metadata: { annotations = {} } }: RenderedObject): boolean {
  return (
    annotations['serviceoperator.azure.com/reconcile-policy'] === 'detach-on-delete' ||
    annotations['cnrm.cloud.google.com/deletion-policy'] === 'abandon' ||
    annotations['services.k8s.aws/deletion-policy'] === 'retain'
  )
}
