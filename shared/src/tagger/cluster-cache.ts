import { claimKey } from '../claims/claim-key.ts'
import type { ClaimKey } from '../claims/claim-key.ts'
import type { Claim } from '../claims/claim.ts'
import { diskOfVolume } from '../claims/disk-sources.ts'
import type { Cloud } from '../claims/disk-sources.ts'
import type { DiskRef } from '../claims/disk.ts'
import type { NamespaceInfo } from '../claims/namespace.ts'
import { resolveDisk } from '../claims/resolve.ts'
import type { Volume } from '../claims/volume.ts'
import { isLaterVersion } from '../queue/hints.ts'
import type { ClusterCallOptions, ClusterReader, RecordWriter } from './ports.ts'

/** The claims and volumes of the cluster as last seen, slim, for reading without a call. Fed by the watches. */
export class ClusterCache implements ClusterReader {
  readonly #claims = new Map<ClaimKey, Claim>()
  readonly #volumes = new Map<string, Volume>()
  /** Kept only where a rule reads them. */
  readonly #namespaces = new Map<string, NamespaceInfo>()
  readonly #byDisk: DiskIndex

  constructor(cloud: Cloud) {
    this.#byDisk = new DiskIndex(cloud)
  }

  claim(key: ClaimKey): Promise<Claim | undefined> {
    return Promise.resolve(this.#claims.get(key))
  }

  volume(name: string): Promise<Volume | undefined> {
    return Promise.resolve(this.#volumes.get(name))
  }

  namespace(name: string): Promise<NamespaceInfo | undefined> {
    return Promise.resolve(this.#namespaces.get(name))
  }

  namespaceNow(name: string): NamespaceInfo | undefined {
    return this.#namespaces.get(name)
  }

  putNamespace(namespace: NamespaceInfo): void {
    this.#namespaces.set(namespace.name, namespace)
  }

  dropNamespace({ name, uid }: NamespaceInfo): void {
    if (this.#namespaces.get(name)?.uid === uid) this.#namespaces.delete(name)
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
    if (known !== undefined && known.uid !== volume.uid) this.#byDisk.drop(known)
    this.#volumes.set(volume.name, volume)
    this.#byDisk.put(volume)
    return true
  }

  dropVolume(volume: Volume): void {
    if (this.#volumes.get(volume.name)?.uid !== volume.uid) return
    this.#volumes.delete(volume.name)
    this.#byDisk.drop(volume)
  }

  /**
   * The volumes that name this disk and whose claims live, the oldest first, then by name: the first one's claim counts.
   * One whose claim is gone has nothing to say, however old it is.
   */
  volumesOf({ id }: DiskRef): readonly Volume[] {
    const names = this.#byDisk.namesOf(id)
    if (names.length < 2) return []
    const claimed = names.flatMap((name) => this.#volumes.get(name) ?? []).filter((volume) => this.#isClaimed(volume))
    return claimed.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1))
  }

  /** Other volumes that name the disk of this one. */
  sharersOf(volume: Volume): readonly Volume[] {
    const names = this.#byDisk.sharersOf(volume)
    return names.flatMap((name) => this.#volumes.get(name) ?? [])
  }

  #isClaimed(volume: Volume): boolean {
    const key = claimKeyOf(volume)
    const claim = key === undefined ? undefined : this.#claims.get(key)
    return resolveDisk(claim, volume, this.#byDisk.cloud).kind === 'ready' && claim?.volumeName === volume.name
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

/** Which volumes name one disk. Nearly always it is one, which then costs no list. */
class DiskIndex {
  readonly cloud: Cloud
  readonly #names = new Map<string, string | readonly string[]>()

  constructor(cloud: Cloud) {
    this.cloud = cloud
  }

  namesOf(id: string): readonly string[] {
    const names = this.#names.get(id) ?? []
    return typeof names === 'string' ? [names] : names
  }

  put(volume: Volume): void {
    const id = this.#idOf(volume)
    if (id === undefined) return
    const others = this.namesOf(id).filter((name) => name !== volume.name)
    this.#names.set(id, others.length === 0 ? volume.name : [...others, volume.name])
  }

  drop(volume: Volume): void {
    const id = this.#idOf(volume)
    if (id === undefined) return
    const others = this.sharersOf(volume)
    if (others.length === 0) this.#names.delete(id)
    else this.#names.set(id, others)
  }

  sharersOf(volume: Volume): readonly string[] {
    const id = this.#idOf(volume)
    return id === undefined ? [] : this.namesOf(id).filter((name) => name !== volume.name)
  }

  #idOf(volume: Volume): string | undefined {
    const found = diskOfVolume(volume, this.cloud)
    return found.kind === 'not-a-disk' ? undefined : found.disk.id
  }
}
