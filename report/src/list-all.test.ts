import type { ApiQuery } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import { decodeNamespace } from '@k8s-cloud-tagger/shared/kubernetes/decode.ts'
import { KubernetesError } from '@k8s-cloud-tagger/shared/kubernetes/kubernetes-error.ts'
import { FakeClock } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { expect } from 'chai'
import { listAll } from './list-all.ts'

const namespaceBody = (name: string) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
})
const page = (names: readonly string[], next?: string) => ({
  metadata: { resourceVersion: '9', ...(next !== undefined && { continue: next }) },
  items: names.map(namespaceBody),
})

describe('listAll', () => {
  const clock = new FakeClock()
  const { signal } = new AbortController()

  function list(...answers: readonly unknown[]) {
    const queries: ApiQuery[] = []
    const left = [...answers]
    const source = {
      async list(query: ApiQuery): Promise<unknown> {
        queries.push(query)
        const answer = left.shift()
        if (answer instanceof Error) throw answer
        return answer
      },
    }
    return { queries, result: listAll({ source, decode: decodeNamespace, clock, signal }) }
  }

  it('follows the pages to the end', async () => {
    const { queries, result } = list(page(['a', 'b'], 'token'), page(['c']))

    expect((await result).objects.map(({ name }) => name)).to.deep.equal(['a', 'b', 'c'])
    expect(queries).to.deep.equal([
      { limit: 500, continue: undefined },
      { limit: 500, continue: 'token' },
    ])
  })

  it('names what it could not read', async () => {
    const { result } = list({ metadata: {}, items: [namespaceBody('a'), { metadata: { name: 'odd' } }, 'nonsense'] })

    const { objects, unreadable } = await result

    expect(objects).to.have.length(1)
    expect(unreadable.map(({ name }) => name)).to.deep.equal(['odd', '(without a name)'])
  })

  it('begins again in one piece when the pages have expired', async () => {
    const { queries, result } = list(page(['a'], 'token'), new KubernetesError('gone', 'expired'), page(['a', 'b']))

    expect((await result).objects).to.have.length(2)
    expect(queries.at(-1)).to.deep.equal({ limit: undefined, continue: undefined })
  })

  it('waits out a server that is busy, as long as it asks for', async () => {
    const busy = new KubernetesError('throttled', 'too many', { retryAfterMs: 7000 })
    const { queries, result } = list(busy, page(['a']))

    await clock.step(6999)
    expect(queries).to.have.length(1)
    await clock.step(1)

    expect((await result).objects).to.have.length(1)
  })

  it('rejects at once where it is not allowed to read, and in the end where the server stays away', async () => {
    const denied: unknown = await list(new KubernetesError('denied', 'forbidden')).result.catch((e: unknown) => e)
    const away = Array.from({ length: 4 }, () => new KubernetesError('unavailable', 'no answer'))
    const { queries, result } = list(...away)
    const outcome = result.catch((error: unknown) => error)
    for (let i = 0; i < 4; i++) await clock.step(10_000)

    expect(denied).to.have.property('kind', 'denied')
    expect(await outcome).to.have.property('kind', 'unavailable')
    expect(queries).to.have.length(4)
  })

  it('does not take an answer without items for an empty list', async () => {
    const error: unknown = await list({ metadata: {} }).result.catch((e: unknown) => e)

    expect(error).to.have.property('message', 'the answer to a list holds no items')
  })
})
