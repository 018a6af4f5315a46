import { claimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { ClaimKey } from '@k8s-cloud-tagger/shared/claims/claim-key.ts'
import type { Claim } from '@k8s-cloud-tagger/shared/claims/claim.ts'
import type { Volume } from '@k8s-cloud-tagger/shared/claims/volume.ts'
import { isLaterVersion } from '@k8s-cloud-tagger/shared/queue/hints.ts'
import type { ClusterCallOptions, ClusterReader, RecordWriter } from '@k8s-cloud-tagger/shared/tagger/ports.ts'

/** The claims and volumes of the cluster as last seen, slim, for reading without a call. Fed by two watches. */
export class ClusterCache implements ClusterReader {
  readonly #claims = new Map<ClaimKey, Claim>()
  readonly #volumes = new Map<string, Volume>()

  claim(key: ClaimKey): Promise<Claim | undefined> {
    return Promise.resolve(this.#claims.get(key))
  }

  volume(name: string): Promise<Volume | undefined> {
    return Promise.resolve(this.#volumes.get(name))
  }

  claimNow(key: ClaimKey): Claim | undefined {
    return this.#claims.get(key)
  }

  volumeNow(name: string): Volume | undefined {
    return this.#volumes.get(name)
  }

  claimKeys(): IterableIterator<ClaimKey> {
    return this.#claims.keys()
  }

  get claimCount(): number {
    return this.#claims.size
  }

  putClaim(claim: Claim): void {
    this.#claims.set(claim.key, claim)
  }

  dropClaim(claim: Claim): void {
    if (this.#claims.get(claim.key)?.uid === claim.uid) this.#claims.delete(claim.key)
  }

  /** Answers false where a later state is known already, as from the answer to a patch that the watch has yet to show. */
  putVolume(volume: Volume): boolean {
    const known = this.#volumes.get(volume.name)
    if (known?.uid === volume.uid && !isLaterVersion(volume.resourceVersion, known.resourceVersion)) return false
    this.#volumes.set(volume.name, volume)
    return true
  }

  dropVolume(volume: Volume): void {
    if (this.#volumes.get(volume.name)?.uid === volume.uid) this.#volumes.delete(volume.name)
  }
}

/** Shows what was written at once, before the watch does: the next pass rests on it. */
export class CachedRecordWriter implements RecordWriter {
  readonly #records: RecordWriter
  readonly #cache: ClusterCache

  constructor(records: RecordWriter, cache: ClusterCache) {
    this.#records = records
    this.#cache = cache
  }

  async writeRecord(volume: Volume, applied: string | (() => string), options: ClusterCallOptions): Promise<Volume> {
    const written = await this.#records.writeRecord(volume, applied, options)
    this.#cache.putVolume(written)
    return written
  }
}

/** The claim that a volume says it belongs to. */
export function claimKeyOf(volume: Volume): ClaimKey | undefined {
  return volume.claimRef && claimKey(volume.claimRef.namespace, volume.claimRef.name)
}
