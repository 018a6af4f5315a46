import type { PeerCertificate } from 'node:tls'
import type { Kube } from '../kube.ts'
import type { KubeObject, Stored } from '../kube-objects.ts'
import { servedCertificate } from '../served-certificate.ts'
import type { TestBed } from './test-bed.ts'

type Configuration = Stored<KubeObject> & {
  readonly webhooks: readonly {
    readonly clientConfig: {
      readonly caBundle?: string
      readonly service: { readonly namespace: string; readonly name: string }
    }
  }[]
}

/** What the webhook shows to somebody who trusts and calls whom the API server does. Rejects where TLS would fail. */
export async function servedToApiServer(bed: TestBed, configurationName: string): Promise<PeerCertificate> {
  const { caPem, service } = await clientConfigOf(bed.cluster.kube, configurationName)
  const name = `${service.name}.${service.namespace}.svc`
  return servedCertificate({ ...(await bed.addressOf(service)), name, caPem })
}

async function clientConfigOf(kube: Kube, name: string) {
  const configuration = (await kube.resourceOf('ValidatingWebhookConfiguration').get({ name })) as Configuration
  const [webhook] = configuration.webhooks
  if (webhook === undefined) throw new Error(`${name} has no webhook`)
  const { caBundle = '', service } = webhook.clientConfig
  return { caPem: Buffer.from(caBundle, 'base64').toString(), service }
}
