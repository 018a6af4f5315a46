import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { createResourceManagement } from '@azure/arm-resources/api'

type SdkOptions = NonNullable<Parameters<typeof createResourceManagement>[2]>
type AdditionalPolicy = NonNullable<SdkOptions['additionalPolicies']>[number]

export type ProxyEnv = NonNullable<AgentOptions['proxyEnv']>

/** The options that the ARM client and the credentials share, and the connections behind them. */
export interface Transport {
  readonly options: {
    readonly retryOptions: { readonly maxRetries: 0 }
    readonly additionalPolicies: AdditionalPolicy[]
    readonly userAgentOptions: { readonly userAgentPrefix: string }
  }
  close(): void
}

/**
 * One place where connections are made: few, kept open, since a TLS handshake costs more than the call. HTTPS goes
 * through `proxyEnv`'s proxy; plain HTTP is only ever to this machine or to the node's metadata service, so it goes
 * straight. `plainHosts` are reached by plain HTTP although the SDK was told https.
 */
export function createTransport(options: {
  readonly proxyEnv: ProxyEnv | undefined
  readonly plainHosts: ReadonlySet<string>
}): Transport {
  const pool = { keepAlive: true, maxSockets: 50 }
  const secure = new HttpsAgent({ ...pool, ...(options.proxyEnv !== undefined && { proxyEnv: options.proxyEnv }) })
  const plain = new HttpAgent(pool)
  const policy: AdditionalPolicy = {
    // After every other one: the SDK has put the token into the request, and whatever agent it found in the environment.
    position: 'perRetry',
    policy: {
      name: 'k8sCloudTaggerTransport',
      sendRequest(request, next) {
        const url = new URL(request.url)
        if (options.plainHosts.has(url.host)) {
          url.protocol = 'http:'
          request.url = url.href
          request.allowInsecureConnection = true
        }
        request.agent = url.protocol === 'http:' ? plain : secure
        return next(request)
      },
    },
  }
  return {
    options: {
      // Pacing and retries are ours: two retry loops multiply.
      retryOptions: { maxRetries: 0 },
      additionalPolicies: [policy],
      userAgentOptions: { userAgentPrefix: 'k8s-cloud-tagger' },
    },
    close() {
      secure.destroy()
      plain.destroy()
    },
  }
}
