import { readFile, writeFile } from 'node:fs/promises'
import { parse, stringify } from 'yaml'

/** Where an API server is, and who calls it. */
export interface KubeAccess {
  readonly url: string
  readonly caPem: string
  readonly token?: string
  readonly clientCertPem?: string
  readonly clientKeyPem?: string
}

interface KubeconfigFile {
  readonly 'current-context': string
  readonly contexts: readonly {
    readonly name: string
    readonly context: { readonly cluster: string; readonly user: string }
  }[]
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, string>> }[]
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, unknown>> }[]
}

/** Reads the current context of a kubeconfig whose certificates or token are inline, as kind and k3d write them. */
export async function readKubeconfig(file: string): Promise<KubeAccess> {
  const config = parse(await readFile(file, 'utf8')) as KubeconfigFile
  const context = config.contexts.find(({ name }) => name === config['current-context'])?.context
  const cluster = config.clusters.find(({ name }) => name === context?.cluster)?.cluster
  const user = config.users.find(({ name }) => name === context?.user)?.user
  const url = cluster?.['server']
  const caPem = decoded(cluster?.['certificate-authority-data'])
  if (url === undefined || caPem === undefined || user === undefined) {
    throw new Error(`${file}: the current context needs a server, certificate-authority-data and a user`)
  }
  const credentials = credentialsOf(user)
  if (credentials === undefined) {
    throw new Error(`${file}: the user needs a token, or client-certificate-data and client-key-data`)
  }
  return { url, caPem, ...credentials }
}

function credentialsOf(user: KubeconfigFile['users'][number]['user']): Omit<KubeAccess, 'url' | 'caPem'> | undefined {
  if (typeof user['token'] === 'string') return { token: user['token'] }
  const clientCertPem = decoded(user['client-certificate-data'])
  const clientKeyPem = decoded(user['client-key-data'])
  if (clientCertPem === undefined || clientKeyPem === undefined) return undefined
  return { clientCertPem, clientKeyPem }
}

/** Writes a kubeconfig, readable by its owner alone, for a caller that has a token. */
export async function writeTokenKubeconfig(
  file: string,
  access: { readonly url: string; readonly caPem: string; readonly user: string; readonly token: string },
): Promise<void> {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'e2e', cluster: { server: access.url, 'certificate-authority-data': encoded(access.caPem) } }],
    users: [{ name: access.user, user: { token: access.token } }],
    contexts: [{ name: 'e2e', context: { cluster: 'e2e', user: access.user } }],
    'current-context': 'e2e',
  }
  await writeFile(file, stringify(config), { mode: 0o600 })
}

function decoded(base64: unknown): string | undefined {
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString('utf8') : undefined
}

function encoded(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
