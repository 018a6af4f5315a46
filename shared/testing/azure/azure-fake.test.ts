import { expect } from 'chai'
import { FakeClock } from '../fake-clock.ts'
import { AzureFake, type AzureFakeOptions } from './azure-fake.ts'
import { addNumberedDisks, numberedDiskId } from './control.ts'

const id = numberedDiskId(1)

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly tags: Record<string, string> | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

describe('the Azure fake', () => {
  let fake: AzureFake

  async function start(options: AzureFakeOptions = {}): Promise<void> {
    fake = await AzureFake.start(options)
    fake.addDisk(id, { tags: { team: 'core', Cost: '1' } })
  }

  afterEach(() => fake.close())

  async function call(method: string, path: string, body?: object, token = 'x'): Promise<Answer> {
    const version = path.includes('ResourceGraph') ? '2024-04-01' : '2025-04-01'
    const response = await fetch(`${fake.url}${path}${path.includes('?') ? '&' : '?'}api-version=${version}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as {
      error?: { code?: string }
      properties?: { tags?: Record<string, string> }
    }
    const { headers, status } = response
    return { status, code: answer.error?.code, tags: answer.properties?.tags, body: answer, headers }
  }

  const tagsPath = (disk: string) => `${disk}/providers/Microsoft.Resources/tags/default`
  const patch = (operation: string, tags: object, disk = id) =>
    call('PATCH', tagsPath(disk), { operation, properties: { tags } })
  const get = (disk = id) => call('GET', tagsPath(disk))
  const query = (body: object) => call('POST', '/providers/Microsoft.ResourceGraph/resources', body)

  const [, , subscription = ''] = id.split('/')
  const disksOf = (group: string) =>
    `resources | where type =~ 'microsoft.compute/disks' | where resourceGroup =~ '${group}' | project id, tags | order by id asc`

  it('accepts a write to a disk, and answers with what was', async () => {
    await start()

    const { headers, status, tags } = await patch('Merge', { team: 'new' })

    expect([status, tags]).to.deep.equal([202, { team: 'core', Cost: '1' }])
    expect(headers.get('location')).to.contain('/DiskOperations/')
    expect(fake.tagsOf(id)).to.deep.equal({ team: 'new', Cost: '1' })
  })

  it('merges, deletes by name or by value, and replaces, whatever the case of a name', async () => {
    await start()

    await patch('Merge', { TEAM: 'x', more: '' })
    expect(fake.tagsOf(id)).to.deep.equal({ team: 'x', Cost: '1', more: '' })
    await patch('Delete', { team: 'another', cost: '', none: 'x' })
    expect(fake.tagsOf(id)).to.deep.equal({ team: 'x', more: '' })
    await patch('Delete', { Team: 'x' })
    await patch('Replace', { a: '1' })
    expect(fake.tagsOf(id)).to.deep.equal({ a: '1' })
  })

  it('finds a disk in whatever case its id is written', async () => {
    await start()

    expect((await get(id.toUpperCase())).tags).to.deep.equal({ team: 'core', Cost: '1' })
    expect((await call('GET', id.toLowerCase())).body).to.deep.include({ tags: { team: 'core', Cost: '1' } })
  })

  for (const [when, tags, code] of [
    ['a forbidden character', { 'a/b': 'x' }, 'InvalidTagNameCharacters'],
    ['a reserved prefix', { AzureTeam: 'x' }, 'InvalidTagName'],
    ['a long name', { ['k'.repeat(513)]: 'x' }, 'InvalidTagNameLength'],
    ['a long value', { a: 'v'.repeat(257) }, 'InvalidTagValueLength'],
    ['a value that is no string', { a: 1 }, 'InvalidRequestContent'],
    ['more than fits', Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`k${i}`, 'x'])), 'TooManyTags'],
  ] as const) {
    it(`refuses ${when}, and does nothing`, async () => {
      await start()

      const { code: answered, status } = await patch('Merge', { ...tags, good: 'x' })

      expect([status, answered]).to.deep.equal([400, code])
      expect(fake.tagsOf(id)).to.deep.equal({ team: 'core', Cost: '1' })
    })
  }

  it('refuses for want of a right, of a disk, of a token and of a version, and for locks', async () => {
    await start({ requireToken: true })
    const { access_token: token } = (await (
      await fetch(`${fake.url}/tenant/oauth2/v2.0/token`, { method: 'POST', body: 'client_assertion=x' })
    ).json()) as { access_token: string }
    const tryPatch = async (disk = id) => {
      const body = { operation: 'Merge', properties: { tags: { a: '1' } } }
      const { code, status } = await call('PATCH', tagsPath(disk), body, token)
      return `${status} ${code ?? 'ok'}`
    }

    expect(await tryPatch()).to.equal('202 ok')
    expect(await tryPatch(numberedDiskId(9))).to.equal('404 ResourceNotFound')
    fake.deny([id])
    expect(await tryPatch()).to.equal('403 AuthorizationFailed')
    fake.allow([id])
    fake.lock('mc_demo_aks_westeurope')
    expect(await tryPatch()).to.equal('409 ScopeLocked')
    fake.unlock('MC_demo_aks_westeurope')
    fake.lockDown('MC_demo_aks_westeurope')
    expect(await tryPatch()).to.equal('403 DenyAssignmentAuthorizationFailed')
    fake.denyReads([id])
    expect((await call('GET', tagsPath(id), undefined, token)).code).to.equal('AuthorizationFailed')
    expect((await get()).code).to.equal('ExpiredAuthenticationToken')
    const unversioned = await fetch(`${fake.url}${tagsPath(id)}`, { headers: { authorization: `Bearer ${token}` } })
    expect(unversioned.status).to.equal(400)
  })

  it('lets reads, and what a write starts from, lag behind', async () => {
    const clock = new FakeClock()
    await start({ clock })
    fake.consistency({ readLagMs: 1000 })
    await clock.step(5000)

    await patch('Merge', { a: '1' })
    const soon = await get()
    await patch('Merge', { b: '1' })
    await clock.step(1000)

    expect(soon.tags).to.deep.equal({ team: 'core', Cost: '1' })
    expect((await get()).tags).to.deep.equal({ team: 'core', Cost: '1', b: '1' })
  })

  it('answers Resource Graph queries in pages, late, in its own casing', async () => {
    const clock = new FakeClock()
    await start({ clock })
    addNumberedDisks(fake, 2500)
    addNumberedDisks(fake, 10, 'other')
    fake.consistency({ graphLagMs: 30_000 })
    const page = (options: object) =>
      query({
        subscriptions: [subscription],
        query: disksOf('mc_DEMO_aks_westeurope'),
        options: { $top: 1000, ...options },
      })
    const young = await page({})
    await clock.step(60_000)
    fake.setTag(numberedDiskId(7), 'late', 'x')

    const pages = [await page({})]
    for (let token = pages[0]?.body['$skipToken']; token !== undefined; token = pages.at(-1)?.body['$skipToken']) {
      pages.push(await page({ $skipToken: token }))
    }

    const rows = pages.flatMap(({ body }) => body['data'] as { id: string; tags: object | null }[])
    expect(young.body['totalRecords']).to.equal(0)
    expect([pages.length, rows.length, pages[0]?.body['totalRecords']]).to.deep.equal([3, 2500, 2500])
    expect(new Set(rows.map(({ id }) => id.toLowerCase())).size).to.equal(2500)
    expect(rows[0]?.id).not.to.equal(rows[0]?.id.toLowerCase())
    expect(rows.some(({ id }) => id === rows[0]?.id.toLowerCase())).to.equal(false)
    expect(JSON.stringify(rows)).not.to.contain('late')
  })

  it('refuses queries that it does not understand, and more rows than there are to be had at once', async () => {
    await start()
    const answers = [
      await query({ subscriptions: [subscription], query: 'resources | take 10' }),
      await query({ subscriptions: [subscription], query: disksOf('x'), options: { $top: 1001 } }),
      await query({ subscriptions: [], query: disksOf('x') }),
    ]

    expect(answers.map(({ code, status }) => [status, code])).to.deep.equal(answers.map(() => [400, 'BadRequest']))
  })

  it('enforces buckets, says what is left, and how long to wait', async () => {
    const clock = new FakeClock()
    await start({ clock, buckets: true })
    const first = await patch('Merge', { a: '0' })
    for (let i = 1; i < 200; i++) await patch('Merge', { a: `${i}` })
    const over = await patch('Merge', { a: '200' })
    const reading = await get()
    await clock.step(1000)
    const after = await patch('Merge', { a: '201' })

    expect(first.headers.get('x-ms-ratelimit-remaining-subscription-writes')).to.equal('199')
    expect([over.status, over.code, over.headers.get('retry-after')]).to.deep.equal([429, 'TooManyRequests', '1'])
    expect(reading.headers.get('x-ms-ratelimit-remaining-subscription-reads')).to.equal('249')
    expect(after.status).to.equal(202)
    expect(fake.count('MergeTags')).to.deep.equal({ calls: 202, throttled: 1, failed: 0 })
  })

  it('throttles Resource Graph by its own bucket', async () => {
    await start({ clock: new FakeClock(), buckets: true })
    const ask = () => query({ subscriptions: [subscription], query: disksOf('x') })

    const answers: Answer[] = []
    for (let i = 0; i < 16; i++) answers.push(await ask())

    expect(answers.slice(0, 15).map(({ status }) => status)).to.deep.equal(Array.from({ length: 15 }, () => 200))
    expect(answers[15]?.code).to.equal('RateLimiting')
    expect(answers[0]?.headers.get('x-ms-user-quota-remaining')).to.equal('14')
  })

  it('says of quota what it is told to say', async () => {
    await start()
    fake.remaining({ 'x-ms-ratelimit-remaining-subscription-writes': '7' })

    expect((await patch('Merge', { a: '1' })).headers.get('x-ms-ratelimit-remaining-subscription-writes')).to.equal('7')
  })

  it('hits the calls that a fault is for, as often as it is for', async () => {
    await start()
    const fault = fake.inject({ kind: 'error', code: 'Boom', status: 500 }, { operation: 'MergeTags', times: 2 })

    const codes = [
      await get(),
      await patch('Merge', { a: '1' }),
      await patch('Merge', { a: '1' }),
      await patch('Merge', {}),
    ]

    expect(codes.map(({ code }) => code)).to.deep.equal([undefined, 'Boom', 'Boom', undefined])
    expect(fault.hits).to.equal(2)
  })

  it('loses answers after the write, and drops calls before it', async () => {
    await start()
    fake.inject({ kind: 'drop' })
    fake.inject({ kind: 'lost-answer' })

    const outcomes = [
      await patch('Merge', { a: '1' }).catch(() => 'no answer'),
      await patch('Merge', { b: '1' }).catch(() => 'no answer'),
    ]

    expect(outcomes).to.deep.equal(['no answer', 'no answer'])
    expect(fake.tagsOf(id)).to.deep.equal({ team: 'core', Cost: '1', b: '1' })
    expect(fake.count('MergeTags')).to.deep.equal({ calls: 2, throttled: 0, failed: 2 })
  })

  it('carries out a late write after its client has gone', async () => {
    const clock = new FakeClock()
    await start({ clock })
    fake.inject({ kind: 'late-write', landsAfterMs: 5000 })
    const client = new AbortController()
    const arrived = fake.nextCall('MergeTags')
    const gone = fetch(`${fake.url}${tagsPath(id)}?api-version=2025-04-01`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
      body: JSON.stringify({ operation: 'Merge', properties: { tags: { a: '1' } } }),
      signal: client.signal,
    }).catch(() => 'gone')
    await arrived
    await clock.step(0)
    client.abort()

    expect(await gone).to.equal('gone')
    expect(fake.tagsOf(id)).not.to.have.property('a')
    await clock.step(5000)
    await fake.landed()
    expect(fake.tagsOf(id)).to.include({ a: '1' })
  })

  it('lets calls that hang go their way when released', async () => {
    await start()
    fake.inject({ kind: 'hang' })
    const arrived = fake.nextCall()
    const hanging = get()
    await arrived
    await new Promise((resolve) => setImmediate(resolve))
    fake.release()

    expect((await hanging).status).to.equal(200)
  })

  it('remembers what was called, with method, path and body', async () => {
    await start()

    await patch('Delete', { a: 'x' })

    const [recorded] = fake.calls('DeleteTags')
    expect(recorded).to.deep.include({ method: 'PATCH', disk: id, outcome: 'ok', authorization: 'Bearer x' })
    expect(recorded?.body).to.contain('"operation":"Delete"')
    fake.resetCounts()
    expect([fake.counts(), fake.calls()]).to.deep.equal([{}, []])
  })
})
