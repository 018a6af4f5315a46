// How another process steers a fake, in JSON. What the fakes share:
//
//   GET  /_fake/state?ids=…,…        counts, calls in flight, and what the cloud adds about its disks
//   GET  /_fake/calls?operation=…    the last calls; EC2 calls it `action`
//   POST /_fake/faults               { fault: { kind, … }, times?: n | "always", and the scope } and/or
//                                    { clear: true, release: true, latencyMs, and the cloud's conditions }
//   POST /_fake/reset                forgets counts and calls
import type { InjectedFault } from './faults.ts'
import { jsonAnswer } from './http.ts'
import type { ExtraRoute } from './cloud-fake.ts'

/** The part of a fake that is steered alike in every cloud. */
interface Steered {
  latencyMs: number
  readonly inFlight: number
  readonly inFlightMax: number
  counts(): object
  calls(name?: string): readonly object[]
  inject(fault: never, scope: never): InjectedFault
  clearFaults(): void
  release(): void
  resetCounts(): void
}

export type ControlHandler<Fake> = (fake: Fake, body: object, query: URLSearchParams) => object

export interface Controls<Fake, Conditions> {
  /** What `calls` is asked by. */
  readonly callName: 'operation' | 'action'
  /** What `state` says beside counts; `ids` are those that were asked for. */
  readonly state: (fake: Fake, ids: readonly string[]) => object
  /** Such as `POST disks`. */
  readonly handlers: Readonly<Record<string, ControlHandler<Fake>>>
  readonly setConditions: (fake: Fake, conditions: Conditions) => void
}

interface FaultsRequest {
  readonly fault?: object
  readonly times?: number | 'always'
  readonly clear?: boolean
  readonly release?: boolean
  readonly latencyMs?: number
}

export function steeredBy<Fake extends Steered, Conditions>(
  controls: Controls<Fake, Conditions>,
): (fake: Fake) => ExtraRoute {
  const handlers: Readonly<Record<string, ControlHandler<Fake>>> = { ...sharedHandlers(controls), ...controls.handlers }
  return (fake) =>
    ({ method, url, body }) => {
      if (!url.pathname.startsWith('/_fake/')) return undefined
      const handler = handlers[`${method} ${url.pathname.slice('/_fake/'.length)}`]
      if (handler === undefined) return jsonAnswer(404, { error: `no ${method} ${url.pathname}` })
      try {
        return jsonAnswer(200, handler(fake, body === '' ? {} : (JSON.parse(body) as object), url.searchParams))
      } catch (error) {
        return jsonAnswer(400, { error: String(error) })
      }
    }
}

function sharedHandlers<Fake extends Steered, Conditions>({
  callName,
  setConditions,
  state,
}: Controls<Fake, Conditions>): Readonly<Record<string, ControlHandler<Fake>>> {
  return {
    'GET state': (fake, _, query) => ({
      counts: fake.counts(),
      inFlight: fake.inFlight,
      inFlightMax: fake.inFlightMax,
      ...state(fake, query.get('ids')?.split(',') ?? []),
    }),
    'GET calls': (fake, _, query) => ({ calls: fake.calls(query.get(callName) ?? undefined) }),
    'POST faults': (fake, body) => {
      const { fault, times, ...request } = body as FaultsRequest
      if (request.clear === true) fake.clearFaults()
      if (request.release === true) fake.release()
      const scope = { ...request, times: times === 'always' ? Infinity : (times ?? 1) }
      if (fault !== undefined) fake.inject(fault as never, scope as never)
      if (request.latencyMs !== undefined) fake.latencyMs = request.latencyMs
      setConditions(fake, request as Conditions)
      return {}
    },
    'POST reset': (fake) => {
      fake.resetCounts()
      return {}
    },
  }
}

/** The state of the disks that were asked for, by id; null for one that does not exist. */
export function statesOf(ids: readonly string[], stateOf: (id: string) => object | null): object {
  return Object.fromEntries(ids.map((id) => [id, stateOf(id)]))
}

/** What a fake's disks can be told, by whatever names the cloud has for disks and tags. */
export interface DisksByHand<Options> {
  readonly has: (id: string) => boolean
  readonly add: (id: string, options?: Options) => void
  readonly remove: (id: string) => void
  readonly addNumbered: (count: number) => void
  readonly set: (id: string, key: string, value: string) => void
  readonly delete: (id: string, key: string) => void
}

/** `{ add: [{ id, … }], remove: [id], count: n }` */
export function changeDisks<Options>(disks: DisksByHand<Options>, body: object): void {
  const {
    add = [],
    remove = [],
    count = 0,
  } = body as {
    readonly add?: readonly ({ readonly id: string } & Options)[]
    readonly remove?: readonly string[]
    readonly count?: number
  }
  for (const { id, ...options } of add) disks.add(id, options as Options)
  for (const id of remove) disks.remove(id)
  disks.addNumbered(count)
}

/** `{ id, set: { key: value }, remove: [key] }`; makes the disk where there is none. Returns its id. */
export function changeTags<Options>(disks: DisksByHand<Options>, body: object): string {
  const {
    id,
    set = {},
    remove = [],
  } = body as {
    readonly id: string
    readonly set?: Readonly<Record<string, string>>
    readonly remove?: readonly string[]
  }
  if (!disks.has(id)) disks.add(id)
  for (const [key, value] of Object.entries(set)) disks.set(id, key, value)
  for (const key of remove) disks.delete(id, key)
  return id
}
