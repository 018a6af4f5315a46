import { KubernetesError } from '../src/kubernetes/kubernetes-error.ts'
import type { Claim } from '../src/claims/claim.ts'
import type { NamespaceInfo } from '../src/claims/namespace.ts'
import type { Volume } from '../src/claims/volume.ts'
import type { ClaimEvent, ClusterReader, EventSink, RecordWriter } from '../src/tagger/ports.ts'
import { claim as aClaim, volume as aVolume } from './builders.ts'

/** The tagger's view of a cluster, filled by hand: claims and volumes in maps, conditional record writes, Events kept. */
export class ClusterInHand implements ClusterReader, RecordWriter, EventSink {
  readonly claims = new Map<string, Claim>()
  readonly volumes = new Map<string, Volume>()
  readonly namespaces = new Map<string, NamespaceInfo>()
  readonly events: (ClaimEvent & { readonly claim: string })[] = []
  readonly calls: string[] = []
  /** Called before each call with its name; what it throws is what the call fails with. */
  before: (call: string) => void = () => {}
  /** Called after a call took effect and before its caller hears of it. */
  after: (call: string) => void = () => {}
  #version = 1000

  put(overrides: Partial<Omit<Claim, 'key'>> = {}): Claim {
    const claim = aClaim({ ...overrides, resourceVersion: this.#nextVersion() })
    this.claims.set(claim.key, claim)
    return claim
  }

  putVolume(overrides: Partial<Volume> = {}): Volume {
    const volume = aVolume({ ...overrides, resourceVersion: this.#nextVersion() })
    this.volumes.set(volume.name, volume)
    return volume
  }

  /** A user's `kubectl label`. */
  label(claim: Claim, labels: Readonly<Record<string, string>>): Claim {
    const { key: _, ...rest } = claim
    return this.put({ ...rest, labels })
  }

  async claim(key: Claim['key']): Promise<Claim | undefined> {
    this.#called('get claim')
    return this.claims.get(key)
  }

  async volume(name: string): Promise<Volume | undefined> {
    this.#called('get volume')
    return this.volumes.get(name)
  }

  async namespace(name: string): Promise<NamespaceInfo | undefined> {
    this.#called('get namespace')
    return this.namespaces.get(name)
  }

  async writeRecord(volume: Volume, record: string | (() => string)): Promise<Volume> {
    const applied = typeof record === 'string' ? record : record()
    const call = applied.includes('"intent"') ? 'open record' : 'settle record'
    this.#called(call)
    const stored = this.volumes.get(volume.name)
    if (stored === undefined) throw new KubernetesError('not-found', 'the volume is gone')
    const same = stored.uid === volume.uid && stored.claimRef?.uid === volume.claimRef?.uid
    if (!same || stored.applied !== volume.applied) throw new KubernetesError('conflict', 'the volume changed')
    const written = { ...stored, applied, resourceVersion: this.#nextVersion() }
    this.volumes.set(volume.name, written)
    this.after(call)
    return written
  }

  record(claim: Claim, event: ClaimEvent): void {
    this.events.push({ ...event, claim: claim.key })
  }

  reasons(): string[] {
    return this.events.map(({ reason }) => reason)
  }

  #called(call: string): void {
    this.before(call)
    this.calls.push(call)
  }

  #nextVersion(): string {
    return String(++this.#version)
  }
}
