import type { DiskRef } from '../../claims/disk.ts'
import { gcpDiskId, parseGcpDiskId, unspecified, type GcpDiskName } from '../../claims/gcp-disk.ts'
import type { TagChanges } from '../../plan/tag-changes.ts'
import { ownForm } from '../../tags/tag-form.ts'
import type { TagForm } from '../../tags/tag-form.ts'
import type { TagSet } from '../../tags/tag-set.ts'
import { notSent } from '../batch-queue.ts'
import type { CallOptions, DiskProvider, ObservedTags, WriteOptions } from '../provider.ts'
import { ProviderError } from '../provider-error.ts'
import type { RunningProvider, ScopeStatus } from '../running-provider.ts'
import type { ComputeApi, ComputeApiOptions, DiskFolder } from './compute-api.ts'
import { unread } from './label-write.ts'
import { normalize, tagsPerDisk } from './normalize.ts'
import { ProjectScope, type ScopeDeps } from './project-scope.ts'
import { isProtectedKey } from './protected-keys.ts'

/** A write is accepted before it takes effect, in practice some seconds before. */
const readLagMs = 60_000
const defaultCallTimeoutMs = 10_000

export interface GcpProviderDeps extends Omit<ScopeDeps, 'callTimeoutMs'> {
  readonly callTimeoutMs?: number | undefined
  /** For disks whose volumes name none; where it is missing, the one that we run in. */
  readonly project?: string | undefined
  readonly endpoint?: ComputeApiOptions['endpoint']
  readonly credentials?: ComputeApiOptions['credentials']
  readonly proxyEnv?: ComputeApiOptions['proxyEnv']
  /** Our own, with no protected key allowed, where it is missing. */
  readonly tagForm?: TagForm | undefined
}

/** Loads the SDK; makes no call. Throws for an endpoint that cannot be used. */
export async function createGcpProvider(deps: GcpProviderDeps): Promise<RunningProvider> {
  const { createComputeApi } = await import('./compute-api.ts')
  return new GcpProvider(deps, createComputeApi({ ...deps, callTimeoutMs: deps.callTimeoutMs ?? defaultCallTimeoutMs }))
}

interface OwnDisk {
  readonly scope: ProjectScope
  readonly name: GcpDiskName
}

/** Disks of one zone or region of one project, by name; two ids may name one disk. */
interface AskedFolder {
  readonly scope: ProjectScope
  readonly folder: DiskFolder
  readonly refs: Map<string, DiskRef[]>
}

/**
 * Persistent Disks and Hyperdisks of any project that the identity may write to. Single reads and writes are one call a
 * disk, paced by project; sweeps read the zones and regions in which our disks are.
 */
export class GcpProvider implements RunningProvider {
  readonly name = 'gcp'
  readonly replacesWholeSet = true
  readonly tagsPerDisk = tagsPerDisk
  readonly readLagMs = readLagMs
  readonly #api: ComputeApi
  readonly #deps: ScopeDeps
  readonly #form: TagForm
  readonly #scopes = new Map<string, ProjectScope>()
  #ownProject: string | undefined
  #stopped = false

  constructor(deps: GcpProviderDeps, api: ComputeApi) {
    this.#api = api
    this.#deps = { ...deps, callTimeoutMs: deps.callTimeoutMs ?? defaultCallTimeoutMs }
    this.#form = deps.tagForm ?? ownForm
    this.#ownProject = deps.project
  }

  scopeOf({ id }: DiskRef): string {
    const project = parseGcpDiskId(id)?.project
    return `gcp/${(project === unspecified ? this.#ownProject : project) ?? unspecified}`
  }

  normalize(desired: TagSet, enforced?: ReadonlySet<string>): ReturnType<DiskProvider['normalize']> {
    return normalize(desired, { form: this.#form, enforced })
  }

  isProtectedKey(key: string): boolean {
    return isProtectedKey(key, this.#form.allowedKeys)
  }

  canonicalKey(key: string): string {
    return key
  }

  async getTags(disk: DiskRef, options: CallOptions): Promise<ObservedTags> {
    const { name, scope } = await this.#find(disk, options)
    return scope.reads.read(gcpDiskId(name), options)
  }

  async applyChanges(
    disk: DiskRef,
    changes: TagChanges,
    observed: ObservedTags | undefined,
    options: WriteOptions,
  ): Promise<void> {
    const { name, scope } = await this.#find(disk, options)
    if (observed === undefined) throw unread(name)
    await scope.writer.apply({ disk: name, changes, observed, options })
  }

  async *listTags(
    disks: readonly DiskRef[],
    options: CallOptions,
  ): AsyncGenerator<{ readonly disk: DiskRef; readonly observed: ObservedTags }> {
    for (const { folder, refs, scope } of await this.#byFolder(disks, options)) {
      for await (const [name, observed] of scope.sweep(folder, refs.keys(), options)) {
        for (const disk of refs.get(name) ?? []) yield { disk, observed }
      }
    }
  }

  /** No call waits for company here. */
  poke(): void {}

  isSlow(scope: string): boolean {
    return [...this.#scopes.values()].some((each) => each.name === scope && each.isSlow)
  }

  status(): readonly ScopeStatus[] {
    return [...this.#scopes.values()].map((scope) => scope.status())
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([...this.#scopes.values()].map((scope) => scope.stop()))
    this.#api.close()
  }

  /** A handle of another driver must never reach the API, where it might name something else. */
  async #find({ id }: DiskRef, options: CallOptions): Promise<OwnDisk> {
    const name = parseGcpDiskId(id)
    if (name === undefined) throw new ProviderError('invalid', `${JSON.stringify(id)} is not the id of a Google disk`)
    if (options.signal.aborted) throw notSent('the caller gave it up before it was sent')
    const project = name.project === unspecified ? await this.#projectOfOurs() : name.project
    if (this.#stopped) throw notSent('the provider is stopping')
    return { name: { ...name, project }, scope: this.#scopeOfProject(project) }
  }

  async #byFolder(disks: readonly DiskRef[], options: CallOptions): Promise<readonly AskedFolder[]> {
    const folders = new Map<string, AskedFolder>()
    for (const disk of disks) {
      if (parseGcpDiskId(disk.id) === undefined) continue
      const { name, scope } = await this.#find(disk, options)
      const key = `${name.project} ${name.place.kind} ${name.place.name}`
      const asked = folders.get(key) ?? { scope, folder: { project: name.project, place: name.place }, refs: new Map() }
      folders.set(key, asked)
      const same = asked.refs.get(name.disk)
      if (same === undefined) asked.refs.set(name.disk, [disk])
      else same.push(disk)
    }
    return [...folders.values()]
  }

  async #projectOfOurs(): Promise<string> {
    this.#ownProject ??= await this.#api.projectId()
    return this.#ownProject
  }

  #scopeOfProject(project: string): ProjectScope {
    let scope = this.#scopes.get(project)
    if (scope === undefined) {
      scope = new ProjectScope(project, this.#api, this.#deps)
      this.#scopes.set(project, scope)
    }
    return scope
  }
}
