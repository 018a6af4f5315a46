import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Cluster } from './cluster.ts'
import type { KubeObject } from './kube-objects.ts'
import { writeTokenKubeconfig } from './kubeconfig.ts'

const manifestsFolder = path.join(import.meta.dirname, '..', 'manifests')

/** The namespace that `e2e/manifests` installs into; the webhook leaves it alone. */
export const ownNamespace = 'k8s-cloud-tagger'

export const webhookConfigurationName = 'k8s-cloud-tagger'

/** How one of the two programs appears before the API server. */
export interface Account {
  readonly kubeconfigPath: string
  /** As in audit logs: `system:serviceaccount:<namespace>:<name>`. */
  readonly user: string
  readonly token: string
}

export interface WebhookEndpoint {
  /** As the API server reaches it, such as `https://127.0.0.1:41234/validate`. */
  readonly url: string
  /** Who signed its certificate. */
  readonly caPem: string
}

export interface ClusterSetup {
  readonly webhook: Account
  readonly reconciler: Account
  /** Registers the webhook, or moves it. The API server obeys within a second or two; see `untilReviewed` to wait. */
  registerWebhook(endpoint: WebhookEndpoint): Promise<void>
  unregisterWebhook(): Promise<void>
}

/** Installs accounts, rights and the volume policy, and writes a kubeconfig for each program into `dir`. */
export async function setUpCluster(cluster: Cluster, { dir }: { readonly dir: string }): Promise<ClusterSetup> {
  const { kube } = cluster
  for (const file of ['accounts.yaml', 'rbac.yaml', 'volume-policy.yaml']) {
    await kube.apply(...(await readManifests(file)))
  }
  const configurations = kube.resourceOf('ValidatingWebhookConfiguration')
  return {
    webhook: await account(cluster, 'k8s-cloud-tagger-webhook', dir),
    reconciler: await account(cluster, 'k8s-cloud-tagger-reconciler', dir),
    async registerWebhook(endpoint) {
      for (const configuration of await readManifests('webhook.yaml')) {
        await configurations.apply(withEndpoint(configuration as WebhookConfiguration, endpoint))
      }
    },
    async unregisterWebhook() {
      await configurations.delete({ name: webhookConfigurationName })
    },
  }
}

export async function readManifests(file: string): Promise<readonly KubeObject[]> {
  const documents = parseAllDocuments(await readFile(path.join(manifestsFolder, file), 'utf8'))
  return documents.map((document) => document.toJS() as KubeObject)
}

interface WebhookConfiguration extends KubeObject {
  readonly webhooks: readonly object[]
}

function withEndpoint(configuration: WebhookConfiguration, { url, caPem }: WebhookEndpoint): WebhookConfiguration {
  const clientConfig = { url, caBundle: Buffer.from(caPem).toString('base64') }
  return { ...configuration, webhooks: configuration.webhooks.map((webhook) => ({ ...webhook, clientConfig })) }
}

async function account(cluster: Cluster, name: string, dir: string): Promise<Account> {
  const token = await cluster.kube.serviceAccountToken({ namespace: ownNamespace, name })
  const kubeconfigPath = path.join(dir, `${name}.kubeconfig`)
  await writeTokenKubeconfig(kubeconfigPath, { url: cluster.url, caPem: cluster.caPem, user: name, token })
  return { kubeconfigPath, token, user: `system:serviceaccount:${ownNamespace}:${name}` }
}
