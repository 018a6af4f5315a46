import { appliedAnnotation } from '../claims/annotations.ts'
import type { Volume } from '../claims/volume.ts'
import type { ClusterCallOptions, RecordWriter } from '../tagger/ports.ts'
import { jsonPatchType, volumePath } from './api-request.ts'
import { decodeVolume } from './decode.ts'
import type { ApiCaller } from './gated-api.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { decodedOrThrow } from './live-cluster.ts'

interface PatchOperation {
  readonly op: 'test' | 'add'
  readonly path: string
  readonly value: unknown
}

const annotationsPath = '/metadata/annotations'
const appliedPath = `${annotationsPath}/${appliedAnnotation.replaceAll('~', '~0').replaceAll('/', '~1')}`

/**
 * Writes our annotation with a JSON patch whose `test`s stand for everything the decision was based on, and for nothing
 * else: the attacher, the resizer and other tools write to the same volume all the time, and a test of the resource
 * version would make each of their writes our conflict.
 *
 * The API server takes a `test` against null as "the key is not there" as long as the map around it is (measured on
 * 1.34), so a first record needs no resource version either. Where the volume has no annotations at all, the map is
 * tested to be absent and added whole. Both forms fail when the other is the case, so neither can wipe what somebody
 * wrote in between.
 */
export class JsonPatchRecordWriter implements RecordWriter {
  readonly #api: ApiCaller

  constructor(deps: { readonly api: ApiCaller }) {
    this.#api = deps.api
  }

  async writeRecord(volume: Volume, applied: string | (() => string), options: ClusterCallOptions): Promise<Volume> {
    const identity = identityTests(volume)
    const value = () => (typeof applied === 'string' ? applied : applied())
    const intoMap = (): PatchOperation[] => [
      ...identity,
      test(appliedPath, volume.applied ?? null),
      { op: 'add', path: appliedPath, value: value() },
    ]
    try {
      return await this.#patch(volume, intoMap, options)
    } catch (error) {
      if (!isConflict(error) || hasAnnotations(volume)) throw error
    }
    const withMap = (): PatchOperation[] => [
      ...identity,
      test(annotationsPath, null),
      { op: 'add', path: annotationsPath, value: { [appliedAnnotation]: value() } },
    ]
    return this.#patch(volume, withMap, options)
  }

  async #patch(volume: Volume, body: () => readonly PatchOperation[], options: ClusterCallOptions): Promise<Volume> {
    const path = volumePath(volume.name)
    const object = await this.#api.call({ method: 'PATCH', path, body, contentType: jsonPatchType }, options)
    return decodedOrThrow(decodeVolume(object), path)
  }
}

function identityTests(volume: Volume): PatchOperation[] {
  const uid = test('/metadata/uid', volume.uid)
  if (volume.claimRef === undefined) return [uid, test('/spec/claimRef', null)]
  return [uid, test('/spec/claimRef/uid', volume.claimRef.uid ?? null)]
}

/** Known from the two annotations that we read. A static volume may have others, so false means "perhaps". */
function hasAnnotations(volume: Volume): boolean {
  return volume.applied !== undefined || volume.provisionedBy !== undefined
}

function test(path: string, value: unknown): PatchOperation {
  return { op: 'test', path, value }
}

function isConflict(error: unknown): boolean {
  return error instanceof KubernetesError && error.kind === 'conflict'
}
