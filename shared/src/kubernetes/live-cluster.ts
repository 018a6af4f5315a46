import { splitClaimKey, type ClaimKey } from '../claims/claim-key.ts'
import type { Claim } from '../claims/claim.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import type { Volume } from '../claims/volume.ts'
import type { ClusterCallOptions, ClusterReader } from '../tagger/ports.ts'
import { claimPath, namespacePath, volumePath } from './api-request.ts'
import { decodeClaim, decodeNamespace, decodeVolume, type Decode } from './decode.ts'
import type { ApiCaller } from './gated-api.ts'
import { KubernetesError } from './kubernetes-error.ts'

/**
 * Reads the live objects, one GET each. An object that is there but cannot be read is 'invalid', never undefined: nothing
 * may be removed because of it.
 */
export class LiveClusterReader implements ClusterReader {
  readonly #api: ApiCaller

  constructor(deps: { readonly api: ApiCaller }) {
    this.#api = deps.api
  }

  claim(key: ClaimKey, options: ClusterCallOptions): Promise<Claim | undefined> {
    const { namespace, name } = splitClaimKey(key)
    return this.#read(claimPath(namespace, name), decodeClaim, options)
  }

  volume(name: string, options: ClusterCallOptions): Promise<Volume | undefined> {
    return this.#read(volumePath(name), decodeVolume, options)
  }

  namespace(name: string, options: ClusterCallOptions): Promise<NamespaceInfo | undefined> {
    return this.#read(namespacePath(name), decodeNamespace, options)
  }

  async #read<T>(path: string, decode: Decode<T>, options: ClusterCallOptions): Promise<T | undefined> {
    let object: unknown
    try {
      object = await this.#api.call({ method: 'GET', path }, options)
    } catch (error) {
      if (error instanceof KubernetesError && error.kind === 'not-found') return undefined
      throw error
    }
    return decodedOrThrow(decode(object), path)
  }
}

export function decodedOrThrow<T>(decoded: ReturnType<Decode<T>>, path: string): T {
  if (decoded.ok) return decoded.value
  throw new KubernetesError('invalid', `${path}: ${decoded.reason}`)
}
