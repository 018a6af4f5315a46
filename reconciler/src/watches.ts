import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { NamespaceInfo } from '@k8s-cloud-tagger/shared/claims/namespace.ts'
import type { Volume } from '@k8s-cloud-tagger/shared/claims/volume.ts'
import { claimsPath, namespacesPath, volumesPath } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import type { ApiTransport } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import { collectionSource } from '@k8s-cloud-tagger/shared/kubernetes/collection-source.ts'
import { decodeClaim, decodeNamespace, decodeVolume } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'
import type { ApiCaller } from '@k8s-cloud-tagger/shared/kubernetes/gated-api.ts'
import { Reflector } from '@k8s-cloud-tagger/shared/kubernetes/reflector.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Check } from '@k8s-cloud-tagger/shared/runtime/health-server.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import type { Random } from '@k8s-cloud-tagger/shared/runtime/random.ts'
import type { TagRules } from '@k8s-cloud-tagger/shared/tags/tag-rules.ts'
import type { Sources } from './sources.ts'

export interface ClusterWatch {
  readonly name: string
  readonly reflector: Reflector<Claim> | Reflector<Volume> | Reflector<NamespaceInfo>
}

export interface WatchesDeps {
  readonly api: ApiCaller
  readonly connection: ApiTransport
  readonly sources: Sources
  readonly rules: Pick<TagRules, 'needsNamespace' | 'readsAnnotation'>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** A watch is asked again after two silent minutes; one that five bring nothing from is beyond its own help. */
const silentLimitMs = 300_000

export function clusterWatches(deps: WatchesDeps): readonly ClusterWatch[] {
  const { api, connection: transport, sources, rules, clock, random, logger } = deps
  const shared = { clock, random, logger }
  const watches: ClusterWatch[] = [
    {
      name: 'persistentvolumeclaims',
      reflector: new Reflector({
        ...shared,
        name: 'claims',
        source: collectionSource({ api, transport, path: claimsPath }),
        // Tools write long annotations, and few rules read one.
        decode: (object) => decodeClaim(object, { keepAnnotation: rules.readsAnnotation }),
        store: sources.claims,
      }),
    },
    {
      name: 'persistentvolumes',
      reflector: new Reflector({
        ...shared,
        name: 'volumes',
        source: collectionSource({ api, transport, path: volumesPath }),
        decode: decodeVolume,
        store: sources.volumes,
      }),
    },
  ]
  if (rules.needsNamespace) {
    watches.push({
      name: 'namespaces',
      reflector: new Reflector({
        ...shared,
        name: 'namespaces',
        source: collectionSource({ api, transport, path: namespacesPath }),
        decode: decodeNamespace,
        store: sources.namespaces,
      }),
    })
  }
  return watches
}

export function watchChecks(watches: readonly ClusterWatch[]): Check[] {
  return watches.map(({ name, reflector }) => () => {
    const { lastEventAgeMs } = reflector.status
    if (lastEventAgeMs <= silentLimitMs) return undefined
    return `watch of ${name}: nothing heard for ${Math.round(lastEventAgeMs / 1000)} s`
  })
}
