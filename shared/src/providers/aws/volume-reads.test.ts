import { expect } from 'chai'
import { ProviderError } from '../provider-error.ts'
import type { VolumePage, VolumeQuery } from './ec2-api.ts'
import { toProviderError } from './errors.ts'
import { readVolumes } from './volume-reads.ts'

interface Cloud {
  readonly missing?: readonly string[]
  /** How many missing ids one message names. */
  readonly namesAtMost?: number
  readonly pageSize?: number
}

function startWith({ missing = [], namesAtMost = Infinity, pageSize = Infinity }: Cloud) {
  const queries: VolumeQuery[] = []
  let paced = 0
  const describe = async (query: VolumeQuery): Promise<VolumePage> => {
    queries.push(query)
    const gone = query.ids.filter((id) => missing.includes(id))
    if (query.how === 'by-id' && gone.length > 0) throw notFound(gone.slice(0, namesAtMost))
    const known = query.ids.filter((id) => !missing.includes(id))
    const from = Number(query.nextToken ?? 0)
    const page = known.slice(from, from + pageSize)
    return {
      volumes: new Map(page.map((id) => [id, new Map([['id', id]])])),
      nextToken: from + pageSize < known.length ? String(from + pageSize) : undefined,
    }
  }
  const read = async (ids: readonly string[]) => [
    ...(await readVolumes(ids, describe, async () => void (paced += 1))).keys(),
  ]
  return { queries, read, paced: () => paced }
}

function notFound(ids: readonly string[]): ProviderError {
  const thrown = Object.assign(new Error(`The volumes '${ids.join(', ')}' do not exist.`), {
    Code: 'InvalidVolume.NotFound',
  })
  return toProviderError(thrown, { kind: 'read', nowWallMs: 0 })
}

const volumes = (count: number) => Array.from({ length: count }, (_, i) => `vol-${i.toString(16).padStart(17, '0')}`)
const shapes = (queries: readonly VolumeQuery[]) => queries.map(({ how, ids }) => `${how} ${ids.length}`)

describe('readVolumes', () => {
  it('needs one call, not paced again, where all are alive', async () => {
    const { paced, queries, read } = startWith({})

    expect(await read(volumes(500))).to.have.length(500)
    expect(shapes(queries)).to.deep.equal(['by-id 500'])
    expect(paced()).to.equal(0)
  })

  it('leaves out the missing by name and reads the rest', async () => {
    const missing = volumes(500).slice(10, 13)
    const { paced, queries, read } = startWith({ missing })

    const found = await read(volumes(500))

    expect(found).to.have.length(497)
    expect(shapes(queries)).to.deep.equal(['by-id 500', 'by-id 497'])
    expect(paced()).to.equal(1)
  })

  it('reads by filter where the message names nobody', async () => {
    const { queries, read } = startWith({ missing: volumes(500).slice(0, 1), namesAtMost: 0 })

    expect(await read(volumes(500))).to.have.length(499)
    expect(shapes(queries)).to.deep.equal(['by-id 500', 'filter 200', 'filter 200', 'filter 100'])
  })

  it('reads by filter where one is named after the other', async () => {
    const { paced, queries, read } = startWith({ missing: volumes(500).slice(0, 50), namesAtMost: 1 })

    expect(await read(volumes(500))).to.have.length(450)
    expect(shapes(queries)).to.deep.equal([
      'by-id 500',
      'by-id 499',
      'by-id 498',
      'filter 200',
      'filter 200',
      'filter 97',
    ])
    expect(paced()).to.equal(5)
  })

  it('makes no further call where all are gone', async () => {
    const { queries, read } = startWith({ missing: volumes(3) })

    expect(await read(volumes(3))).to.deep.equal([])
    expect(queries).to.have.length(1)
  })

  it('follows the pages, however small they are', async () => {
    const { paced, queries, read } = startWith({ pageSize: 100 })

    expect(await read(volumes(450))).to.have.length(450)
    expect(queries.map(({ nextToken }) => nextToken)).to.deep.equal([undefined, '100', '200', '300', '400'])
    expect(paced()).to.equal(4)
  })

  it('passes on every other failure', async () => {
    const denied = new ProviderError('denied', 'no')
    const reading = readVolumes(
      volumes(2),
      () => Promise.reject(denied),
      async () => {},
    )

    expect(await reading.catch((error: unknown) => error)).to.equal(denied)
  })
})
