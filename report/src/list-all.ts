import type { ListWatchSource } from '@k8s-cloud-tagger/shared/kubernetes/collection-source.ts'
import type { Decode } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'
import { asObject, objectAt, stringAt } from '@k8s-cloud-tagger/shared/kubernetes/json.ts'
import { KubernetesError } from '@k8s-cloud-tagger/shared/kubernetes/kubernetes-error.ts'
import { pause } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'

export interface ListAllOptions<T> {
  readonly source: Pick<ListWatchSource, 'list'>
  readonly decode: Decode<T>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (done: number) => void
}

export interface Listed<T> {
  readonly objects: readonly T[]
  /** Objects that are there and that could not be read. */
  readonly unreadable: readonly { readonly name: string; readonly reason: string }[]
}

const pageSize = 500
const triesMax = 4
const firstDelayMs = 1000

/** One whole list, page by page. Rejects with the KubernetesError of a page that could not be had after some tries. */
export async function listAll<T>(options: ListAllOptions<T>): Promise<Listed<T>> {
  try {
    return await listOnce(options, pageSize)
  } catch (error) {
    // Pages are kept for some minutes only; in one piece there is nothing to expire.
    if (error instanceof KubernetesError && error.kind === 'gone') return listOnce(options, undefined)
    throw error
  }
}

async function listOnce<T>(options: ListAllOptions<T>, limit: number | undefined): Promise<Listed<T>> {
  const objects: T[] = []
  const unreadable: { name: string; reason: string }[] = []
  let next: string | undefined
  do {
    const page = asObject(await fetchPage(options, { limit, continue: next }))
    const items = page?.['items']
    if (!Array.isArray(items)) throw new KubernetesError('unavailable', 'the answer to a list holds no items')
    for (const item of items as readonly unknown[]) {
      const decoded = options.decode(item)
      if (decoded.ok) objects.push(decoded.value)
      else unreadable.push({ name: nameOf(item), reason: decoded.reason })
    }
    options.onProgress?.(objects.length)
    next = stringAt(objectAt(page, 'metadata'), 'continue')
  } while (next !== undefined)
  return { objects, unreadable }
}

async function fetchPage<T>(
  { source, clock, signal }: ListAllOptions<T>,
  query: { readonly limit: number | undefined; readonly continue: string | undefined },
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      return await source.list(query, signal)
    } catch (error) {
      signal.throwIfAborted()
      const passes = error instanceof KubernetesError && (error.kind === 'throttled' || error.kind === 'unavailable')
      if (!passes || tries === triesMax) throw error
      await pause(clock, Math.max(firstDelayMs * 2 ** (tries - 1), error.retryAfterMs ?? 0), signal)
      signal.throwIfAborted()
    }
  }
}

function nameOf(object: unknown): string {
  const metadata = objectAt(asObject(object), 'metadata')
  const namespace = stringAt(metadata, 'namespace')
  const name = stringAt(metadata, 'name') ?? '(without a name)'
  return namespace === undefined ? name : `${namespace}/${name}`
}
