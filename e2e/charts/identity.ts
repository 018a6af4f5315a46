import { readdirSync } from 'node:fs'
import path from 'node:path'
import type { RenderedObject } from './helm.ts'

const valuesFolder = path.join(import.meta.dirname, 'values')

/** Values with an identity in the cloud. */
export const identityValueFiles: readonly string[] = readdirSync(valuesFolder)
  .filter((file) => /^identity-.*\.yaml$/u.test(file))
  .map((file) => path.join(valuesFolder, file))

const identityGroups: ReadonlySet<string> = new Set([
  'iam.services.k8s.aws',
  'eks.services.k8s.aws',
  'iam.cnrm.cloud.google.com',
  'resources.azure.com',
  'managedidentity.azure.com',
  'authorization.azure.com',
])

/** Whether an operator makes something in a cloud of it. */
export function isIdentity({ apiVersion }: RenderedObject): boolean {
  return identityGroups.has(apiVersion.split('/')[0] ?? '')
}

/** What leads through an object of unknown shape; undefined where there is nothing. */
export function at(object: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    object,
  )
}

/** A text, or every text of a list. */
export function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? [value] : []
}

export function namesOf(objects: readonly RenderedObject[], kind: string): readonly string[] {
  return objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name)
}

/** The accounts that pods of these objects run as, each once, as `namespace/name`, sorted. */
export function podAccounts(objects: readonly RenderedObject[]): readonly string[] {
  const accounts = objects
    .filter(({ kind }) => kind === 'Deployment')
    .map(
      (object) =>
        `${object.metadata.namespace}/${String(at(object, 'spec', 'template', 'spec', 'serviceAccountName'))}`,
    )
  return [...new Set(accounts)].toSorted()
}

/** The accounts, as `namespace/name`, that these identity objects trust, each once, sorted. */
export function trustedAccounts(objects: readonly RenderedObject[]): readonly string[] {
  return [...new Set(objects.flatMap(trustedBy))].toSorted()
}

function trustedBy(object: RenderedObject): readonly string[] {
  const { spec } = object
  switch (object.kind) {
    case 'Role':
      return isIdentity(object) ? trustedByPolicy(at(spec, 'assumeRolePolicyDocument')) : []
    case 'FederatedIdentityCredential':
      return textsIn(at(spec, 'subject')).map(accountOfSubject)
    case 'PodIdentityAssociation':
      return [`${String(at(spec, 'namespace'))}/${String(at(spec, 'serviceAccount'))}`]
    case 'IAMPolicyMember':
      return textsIn(at(spec, 'member')).flatMap(accountOfMember)
    default:
      return []
  }
}

function trustedByPolicy(document: unknown): readonly string[] {
  const equals = at(JSON.parse(String(document)), 'Statement', 0, 'Condition', 'StringEquals')
  const [namespace] = textsIn(at(equals, 'aws:RequestTag/kubernetes-namespace'))
  if (namespace !== undefined) {
    return textsIn(at(equals, 'aws:RequestTag/kubernetes-service-account')).map((name) => `${namespace}/${name}`)
  }
  const key = Object.keys(equals ?? {}).find((one) => one.endsWith(':sub')) ?? ''
  return textsIn(at(equals, key)).map(accountOfSubject)
}

function accountOfSubject(subject: string): string {
  const [, , namespace = '', name = ''] = subject.split(':')
  return `${namespace}/${name}`
}

/** A Google service account is nobody in the cluster. */
function accountOfMember(member: string): readonly string[] {
  const direct = /^principal:\/\/.*\/subject\/ns\/([^/]+)\/sa\/([^/]+)$/u.exec(member)
  const [, namespace, name] = direct ?? /^serviceAccount:.*\[([^/]+)\/([^/]+)\]$/u.exec(member) ?? []
  return namespace === undefined || name === undefined ? [] : [`${namespace}/${name}`]
}

/** The role of AWS Controllers for Kubernetes; undefined where there is none. */
export function roleOf(objects: readonly RenderedObject[]): RenderedObject | undefined {
  return objects.find((object) => isIdentity(object) && object.kind === 'Role')
}

/** With a field in its spec that no schema knows. */
export function withStrangeField(object: RenderedObject): RenderedObject {
  return Object.assign({}, object, { spec: Object.assign({}, object['spec'], { surprise: 1 }) })
}
