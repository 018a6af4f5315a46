import { childOf, keyOf, type KubeObject, storeKey, stringOf } from './objects.ts'

/** Which volumes a claim may want and which claims wait for a volume, without looking at all of them each time. */
export class VolumeIndex {
  /** Volumes with a claimRef, by the key of the claim. */
  readonly #byClaim = new Map<string, Set<string>>()
  /** Volumes without one, by StorageClass. */
  readonly #freeByClass = new Map<string, Set<string>>()
  /** Where each volume is filed now. */
  readonly #filedUnder = new Map<string, Set<string>>()
  readonly #waitingByVolume = new Map<string, Set<string>>()
  readonly #waitingByClass = new Map<string, Set<string>>()
  readonly #waitsIn = new Map<string, Set<string>>()

  put(volume: KubeObject): void {
    const { name } = volume.metadata
    this.remove(volume)
    const reference = childOf(volume.spec, 'claimRef')
    const claimName = stringOf(reference, 'name')
    const place =
      claimName === undefined
        ? setIn(this.#freeByClass, classOf(volume))
        : setIn(this.#byClaim, storeKey(stringOf(reference, 'namespace'), claimName))
    place.add(name)
    this.#filedUnder.set(name, place)
  }

  remove({ metadata: { name } }: KubeObject): void {
    this.#filedUnder.get(name)?.delete(name)
    this.#filedUnder.delete(name)
  }

  /** Volumes that name this claim come before free ones of its class. */
  *candidatesFor(claim: KubeObject): Iterable<string> {
    yield* this.#byClaim.get(keyOf(claim)) ?? []
    yield* this.#freeByClass.get(classOf(claim)) ?? []
  }

  wait(claim: KubeObject): void {
    const key = keyOf(claim)
    this.stopWaiting(key)
    const named = stringOf(claim.spec, 'volumeName')
    const place =
      named === undefined ? setIn(this.#waitingByClass, classOf(claim)) : setIn(this.#waitingByVolume, named)
    place.add(key)
    this.#waitsIn.set(key, place)
  }

  stopWaiting(key: string): void {
    this.#waitsIn.get(key)?.delete(key)
    this.#waitsIn.delete(key)
  }

  /** All claims that name the volume, and the first of those that would take any volume of its class. */
  *waitingFor(volume: KubeObject): Iterable<string> {
    yield* this.#waitingByVolume.get(volume.metadata.name) ?? []
    const first = this.nextWaiting(volume)
    if (first !== undefined) yield first
  }

  /** The first claim that waits for any volume of the same class. */
  nextWaiting(sameClass: KubeObject): string | undefined {
    const [first] = this.#waitingByClass.get(classOf(sameClass)) ?? []
    return first
  }
}

function classOf({ spec }: KubeObject): string {
  return stringOf(spec, 'storageClassName') ?? ''
}

function setIn(map: Map<string, Set<string>>, key: string): Set<string> {
  const known = map.get(key)
  if (known !== undefined) return known
  const set = new Set<string>()
  map.set(key, set)
  return set
}
