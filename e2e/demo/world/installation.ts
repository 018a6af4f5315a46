import { readManifests } from '../../src/cluster-setup.ts'
import type { AccessRule, NewUser } from '@k8s-cloud-tagger/shared/testing/kubernetes/users.ts'

/** What an administrator would apply, read from `e2e/manifests`, in the forms that the embedded API takes. */
export interface Installation {
  readonly namespace: string
  /** The two service accounts, each with exactly the rights of its roles. */
  readonly users: { readonly webhook: NewUser; readonly reconciler: NewUser }
  readonly webhooks: readonly WebhookFields[]
}

export interface WebhookFields {
  readonly name: string
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[]
  readonly [field: string]: unknown
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly AccessRule[]
  readonly webhooks?: readonly WebhookFields[]
}

export async function readInstallation(): Promise<Installation> {
  const files = ['accounts.yaml', 'rbac.yaml', 'webhook.yaml']
  const manifests = (await Promise.all(files.map((file) => readManifests(file)))).flat() as readonly Manifest[]
  const namespace = manifests.find(({ kind }) => kind === 'Namespace')?.metadata.name
  const webhooks = manifests.find(({ kind }) => kind === 'ValidatingWebhookConfiguration')?.webhooks
  if (namespace === undefined || webhooks === undefined) {
    throw new Error('e2e/manifests lacks the Namespace or the ValidatingWebhookConfiguration')
  }
  const user = (program: 'webhook' | 'reconciler'): NewUser => {
    const account = `k8s-cloud-tagger-${program}`
    return { name: `system:serviceaccount:${namespace}:${account}`, rules: rulesOf(account, manifests) }
  }
  return { namespace, users: { webhook: user('webhook'), reconciler: user('reconciler') }, webhooks }
}

/** A role and the account that it is bound to share a name. */
function rulesOf(account: string, manifests: readonly Manifest[]): readonly AccessRule[] {
  return manifests
    .filter(({ kind, metadata }) => (kind === 'ClusterRole' || kind === 'Role') && metadata.name === account)
    .flatMap(({ kind, metadata, rules = [] }) =>
      rules.map((rule) =>
        kind === 'Role' && metadata.namespace !== undefined ? { ...rule, namespace: metadata.namespace } : rule,
      ),
    )
}
