import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import type { Volume } from '@k8s-cloud-tagger/shared/claims/volume.ts'
import { claimsPath, namespacesPath, volumesPath } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import type { ListWatchSource } from '@k8s-cloud-tagger/shared/kubernetes/collection-source.ts'
import { decodeClaim, decodeNamespace, decodeVolume } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'
import type { Decode } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Unread } from './cluster-report.ts'
import { listAll } from './list-all.ts'

/** The cluster as it was read. A kind that could not be listed is undefined, never empty. */
export interface ClusterSnapshot {
  readonly claims: readonly Claim[]
  readonly volumes: readonly Volume[] | undefined
  /** Empty as well where no rule needs them. */
  readonly namespaces: readonly NamespaceInfo[] | undefined
  /** Objects and kinds that could not be read. */
  readonly unread: readonly Unread[]
}

export interface SnapshotOptions {
  /** The list of one kind, by its path. */
  readonly sourceOf: (path: string) => Pick<ListWatchSource, 'list'>
  readonly needsNamespaces: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (stage: string, done: number) => void
}

/** Rejects where the claims themselves cannot be listed: without them there is nothing to tell. */
export async function readCluster(options: SnapshotOptions): Promise<ClusterSnapshot> {
  const { sourceOf, clock, signal, onProgress } = options
  const unread: Unread[] = []
  const list = async <T>(what: 'claim' | 'volume' | 'namespace', path: string, decode: Decode<T>) => {
    const stage = `reading ${what}s`
    const progress = (done: number) => onProgress?.(stage, done)
    const listed = await listAll({ source: sourceOf(path), decode, clock, signal, onProgress: progress })
    unread.push(...listed.unreadable.map((each) => ({ what, ...each })))
    return listed.objects
  }
  const orNothing = async <T>(what: 'volumes' | 'namespaces', listing: Promise<readonly T[]>) => {
    try {
      return await listing
    } catch (error) {
      signal.throwIfAborted()
      unread.push({ what, name: '', reason: error instanceof Error ? error.message : String(error) })
      return undefined
    }
  }
  const claims = await list('claim', claimsPath, (object) => decodeClaim(object))
  const volumes = await orNothing('volumes', list('volume', volumesPath, decodeVolume))
  const namespaces = options.needsNamespaces
    ? await orNothing('namespaces', list('namespace', namespacesPath, decodeNamespace))
    : []
  return { claims, volumes, namespaces, unread }
}
