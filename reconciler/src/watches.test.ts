import { expect } from 'chai'
import { FakeClock, settle } from '@k8s-cloud-tagger/shared/testing/fake-clock.ts'
import { CapturedLog } from '@k8s-cloud-tagger/shared/testing/programs/captured-log.ts'
import type { ApiTransport } from '@k8s-cloud-tagger/shared/kubernetes/api-request.ts'
import { KubernetesError } from '@k8s-cloud-tagger/shared/kubernetes/kubernetes-error.ts'
import { ClusterCache } from '@k8s-cloud-tagger/shared/tagger/cluster-cache.ts'
import { Sources } from './sources.ts'
import { clusterWatches, watchChecks } from './watches.ts'

const minuteMs = 60_000

/** An API server whose lists are empty and whose watches say what the test wants, or nothing. */
function start({ answers = true } = {}) {
  const clock = new FakeClock()
  const sources = new Sources(new ClusterCache('aws'), { needsNamespaces: false })
  const server = { answers, bookmarkEveryMs: minuteMs as number | undefined }
  const away = () => new KubernetesError('unavailable', 'nobody there')
  const list = async () => {
    if (!server.answers) throw away()
    return { metadata: { resourceVersion: '1' }, items: [] }
  }
  async function* lines(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const gone = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(away())))
    gone.catch(() => undefined)
    for (;;) {
      const bookmark = new Promise<void>((resolve) => {
        if (server.bookmarkEveryMs !== undefined) clock.setTimer(server.bookmarkEveryMs, resolve)
      })
      await Promise.race([bookmark, gone])
      yield Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"2"}}}\n')
    }
  }
  const connection: ApiTransport = {
    send: list,
    openStream: async ({ signal }) => {
      if (!server.answers) throw away()
      return lines(signal)
    },
  }
  const watches = clusterWatches({
    api: { call: list },
    connection,
    sources,
    rules: { needsNamespace: false, readsAnnotation: () => false },
    clock,
    random: { next: () => 0.5 },
    logger: new CapturedLog(),
  })
  const problems = () => watchChecks(watches).map((check) => check())
  const stop = () => Promise.all(watches.map(({ reflector }) => reflector.stop()))
  for (const { reflector } of watches) reflector.start()
  return { clock, server, sources, problems, stop }
}

describe('the watches of a cluster', () => {
  it('sync, and are alive for as long as bookmarks come', async () => {
    const { clock, sources, problems, stop } = start()
    await settle()
    expect(sources.synced).to.equal(true)

    for (let i = 0; i < 120; i++) {
      await clock.step(minuteMs)
      expect(problems()).to.deep.equal([undefined, undefined])
    }
    await stop()
  })

  it('are given up when nothing was heard of them for five minutes, and not before', async () => {
    const { clock, server, problems, stop } = start()
    await settle()
    server.bookmarkEveryMs = undefined
    server.answers = false
    // The last bookmark is on its way already.
    await clock.step(minuteMs)

    await clock.step(5 * minuteMs)
    expect(problems()).to.deep.equal([undefined, undefined])
    await clock.step(minuteMs)
    expect(problems()).to.deep.equal([
      'watch of persistentvolumeclaims: nothing heard for 360 s',
      'watch of persistentvolumes: nothing heard for 360 s',
    ])

    server.answers = true
    server.bookmarkEveryMs = minuteMs
    await clock.step(2 * minuteMs)
    expect(problems()).to.deep.equal([undefined, undefined])
    await stop()
  })

  it('are not synced before the first list, however long that takes', async () => {
    const { clock, server, sources, stop } = start({ answers: false })
    await clock.step(4 * minuteMs)
    expect(sources.synced).to.equal(false)

    server.answers = true
    await clock.step(minuteMs)

    expect(sources.synced).to.equal(true)
    await stop()
  })
})
