import { expect } from 'chai'
import { Registry } from 'prom-client'
import { HealthServer } from './health-server.ts'
import type { Check, HealthServerOptions } from './health-server.ts'
import { createMetrics } from './metrics.ts'

describe('HealthServer', () => {
  let server: HealthServer | undefined

  afterEach(() => {
    server?.close()
    server = undefined
  })

  async function start(options: Partial<HealthServerOptions> = {}) {
    server = new HealthServer({
      address: '127.0.0.1',
      port: 0,
      registry: new Registry(),
      live: [],
      ready: [],
      beforeScrape: () => {},
      ...options,
    })
    const port = await server.listen()
    return async (path: string, method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
    }
  }

  it('is well where nothing is wrong', async () => {
    const get = await start({ live: [() => undefined] })

    for (const path of ['/healthz', '/readyz', '/healthz?verbose']) {
      expect(await get(path)).to.deep.equal({ status: 200, type: 'text/plain; charset=utf-8', text: 'ok\n' })
    }
  })

  it('names everything that is wrong, a line each, and tells life from readiness', async () => {
    let problem: string | undefined = 'watch of claims: nothing heard for 301 s'
    const wrong: Check = () => problem
    const get = await start({ live: [wrong, () => undefined, () => 'workers: stuck'], ready: [] })

    expect(await get('/healthz')).to.include({
      status: 503,
      text: 'watch of claims: nothing heard for 301 s\nworkers: stuck\n',
    })
    expect((await get('/readyz')).status).to.equal(200)
    problem = undefined
    expect((await get('/healthz')).text).to.equal('workers: stuck\n')
  })

  it('brings the gauges up to date before it shows them', async () => {
    const metrics = createMetrics({ version: '1.2.3', program: 'webhook' })
    const get = await start({ registry: metrics.registry, beforeScrape: () => metrics.queueOldestSeconds.set(7) })

    const { status, type, text } = await get('/metrics')

    expect(status).to.equal(200)
    expect(type).to.match(/^text\/plain; version=0\.0\.4/)
    expect(text).to.include('k8s_cloud_tagger_queue_oldest_seconds 7\n')
    expect(text).to.include('k8s_cloud_tagger_build_info{version="1.2.3",program="webhook"} 1\n')
  })

  it('answers HEAD without a body, and says what it has instead of anything else', async () => {
    const get = await start()

    expect(await get('/healthz', 'HEAD')).to.include({ status: 200, text: '' })
    expect(await get('/')).to.include({ status: 404, text: 'here are /healthz, /readyz and /metrics\n' })
    expect((await get('/healthz', 'POST')).status).to.equal(405)
  })

  it('says that its port is taken', async () => {
    const get = await start()
    expect((await get('/healthz')).status).to.equal(200)
    const port = await server?.listen().catch(() => undefined)
    expect(port).to.equal(undefined)
  })
})
