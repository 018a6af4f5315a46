import { stringify } from 'yaml'

/** One cluster, one user with a bearer token, one context. */
export function kubeconfig(of: {
  readonly url: string
  readonly caCertificate: string
  readonly user: string
  readonly token: string
}): string {
  const name = 'embedded'
  const authority = Buffer.from(of.caCertificate).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: of.url, 'certificate-authority-data': authority } }],
    users: [{ name: of.user, user: { token: of.token } }],
    contexts: [{ name, context: { cluster: name, user: of.user } }],
    'current-context': name,
  })
}
