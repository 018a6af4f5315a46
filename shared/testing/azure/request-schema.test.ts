import { expect } from 'chai'
import { AzureFake } from './azure-fake.ts'
import { numberedDiskId } from './control.ts'

const id = numberedDiskId(1)
const tagsPath = `${id}/providers/Microsoft.Resources/tags/default`
const graphPath = '/providers/Microsoft.ResourceGraph/resources'

describe('what the Azure fake takes for a request, by the tag operations of Azure’s client', () => {
  let fake: AzureFake

  beforeEach(async () => {
    fake = await AzureFake.start()
    fake.addDisk(id)
  })

  afterEach(() => fake.close())

  async function ask(
    method: string,
    path: string,
    {
      body,
      version = '2025-04-01',
      type = 'application/json',
    }: { body?: unknown; version?: string; type?: string } = {},
  ): Promise<string> {
    const response = await fetch(`${fake.url}${path}?api-version=${version}`, {
      method,
      headers: { authorization: 'Bearer x', 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { error } = (await response.json()) as { readonly error?: { readonly code: string } }
    return `${response.status} ${error?.code ?? ''}`.trim()
  }

  const patch = (body: unknown) => ask('PATCH', tagsPath, { body })
  const graph = (body: object, version = '2024-04-01') => ask('POST', graphPath, { body, version })

  it('takes what the client writes', async () => {
    expect(await ask('GET', tagsPath)).to.equal('200')
    expect(await patch({ operation: 'Merge', properties: { tags: { a: '1' } } })).to.equal('202')
  })

  it('refuses fields that there are not, and those of another type', async () => {
    const refused = [
      { operation: 'Merge', tags: { a: '1' } },
      { operation: 'Merge', properties: { tags: { a: '1' }, scope: 'x' } },
      { operation: 7, properties: { tags: { a: '1' } } },
      { operation: 'Merge', properties: { tags: { a: 1 } } },
      { operation: 'Merge', properties: { tags: ['a'] } },
      { operation: 'Merge', properties: { tags: { a: null } } },
      { operation: 'Update', properties: { tags: { a: '1' } } },
      [],
    ]

    for (const body of refused) {
      expect(await patch(body), JSON.stringify(body)).to.equal('400 InvalidRequestContent')
    }
    expect(fake.tagsOf(id)).to.deep.equal({})
  })

  it('refuses another version, another path and another form than the client’s', async () => {
    const body = { operation: 'Merge', properties: { tags: { a: '1' } } }

    expect(await ask('GET', tagsPath, { version: '2019-10-01' })).to.equal('400 InvalidApiVersionParameter')
    expect(await ask('PATCH', tagsPath, { body, type: 'text/plain' })).to.equal('415 UnsupportedMediaType')
    expect(await ask('PATCH', `${tagsPath}s`, { body })).to.equal('404 InvalidResourceType')
    expect(await ask('PATCH', `${tagsPath}&other=1`, { body })).to.match(/^404/)
  })

  it('refuses what Resource Graph would not understand', async () => {
    const query = "resources | where type =~ 'microsoft.compute/disks' | project id, tags | order by id asc"
    const subscriptions = ['0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0']

    expect(await graph({ subscriptions, query, options: { $top: 1, resultFormat: 'objectArray' } })).to.equal('200')
    expect(await graph({ subscriptions, query, options: { top: 1 } })).to.equal('400 BadRequest')
    expect(await graph({ subscriptions, query, options: { $top: '1' } })).to.equal('400 BadRequest')
    expect(await graph({ subscriptions: 'all', query })).to.equal('400 BadRequest')
    expect(await graph({ subscriptions, query }, '2025-04-01')).to.equal('400 InvalidApiVersionParameter')
  })
})
