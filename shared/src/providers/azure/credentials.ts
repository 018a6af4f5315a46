import type { createResourceManagement } from '@azure/arm-resources/api'
import { DefaultAzureCredential, WorkloadIdentityCredential } from '@azure/identity'
import { toCredentialError } from './errors.ts'
import type { SdkEndpoint } from './plain-http.ts'
import type { Transport } from './transport.ts'

export type AzureCredential = Parameters<typeof createResourceManagement>[0]

/** Authorities that the SDK knows: any other is not looked up in Microsoft's list, which would not have it. */
const knownAuthorities: ReadonlySet<string> = new Set([
  'login.microsoftonline.com',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
  'login.chinacloudapi.cn',
])

/**
 * Workload identity where AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_FEDERATED_TOKEN_FILE are set, as its webhook does;
 * it asks nobody else. Otherwise the SDK's own chain: secrets in the environment, managed identity, command line.
 * Without `authority` it is AZURE_AUTHORITY_HOST, then the public cloud. Makes no call.
 */
export function findCredential(authority: SdkEndpoint | undefined, transport: Transport): AzureCredential {
  const options = {
    ...transport.options,
    ...(authority !== undefined && {
      authorityHost: authority.url,
      disableInstanceDiscovery: !knownAuthorities.has(new URL(authority.url).hostname),
    }),
  }
  try {
    return new WorkloadIdentityCredential(options)
  } catch (error) {
    if (error instanceof Error && error.name === 'CredentialUnavailableError') {
      return new DefaultAzureCredential(options)
    }
    throw error
  }
}

/** Tells a token that was not to be had from a call that failed: such a call was not sent. */
export function translated(credential: AzureCredential): AzureCredential {
  return {
    async getToken(scopes, options) {
      try {
        return await credential.getToken(scopes, options)
      } catch (thrown) {
        throw toCredentialError(thrown)
      }
    },
  }
}
