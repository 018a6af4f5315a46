import { expect } from 'chai'
import { GcpFake } from './gcp-fake.ts'

const disk = 'projects/p/zones/europe-west4-a/disks/d'
const regional = 'projects/p/regions/europe-west4/disks/d'

describe('what the Compute Engine fake takes for a request, by the descriptors inside Google’s client', () => {
  let fake: GcpFake

  beforeEach(async () => {
    fake = await GcpFake.start()
    fake.addDisk(disk)
    fake.addDisk(regional)
  })

  afterEach(() => fake.close())

  async function ask(path: string, init: RequestInit = {}): Promise<string> {
    const response = await fetch(`${fake.url}/compute/v1/${path}`, init)
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } }
    return `${response.status} ${error?.message ?? ''}`.trim()
  }

  const post = (id: string, body: unknown) => ask(`${id}/setLabels`, { method: 'POST', body: JSON.stringify(body) })

  for (const id of [disk, regional]) {
    it(`takes both fields of a setLabels, of ${id}`, async () => {
      const body = { labels: { a: '1' }, labelFingerprint: fake.fingerprintOf(id) }

      expect(await post(id, body)).to.equal('200')
      expect(fake.labelsOf(id)).to.deep.equal({ a: '1' })
    })

    it(`refuses a field of a setLabels that there is not, of ${id}`, async () => {
      expect(await post(id, { labels: {}, label_fingerprint: 'x' })).to.match(/^400 .*"label_fingerprint" in the body/)
      expect(await post(id, { labels: {}, labelFingerprint: 'x', tags: {} })).to.match(/^400 .*"tags"/)
    })

    it(`refuses a field of a setLabels that has another type, of ${id}`, async () => {
      expect(await post(id, { labels: { a: 1 } })).to.match(/^400 .*labels\[a\]/)
      expect(await post(id, { labels: { a: null } })).to.match(/^400 .*labels\[a\]/)
      expect(await post(id, { labels: [] })).to.match(/^400 .*'labels'/)
      expect(await post(id, { labelFingerprint: 7 })).to.match(/^400 .*labelFingerprint/)
      expect(await post(id, [])).to.match(/^400 /)
      expect(fake.labelsOf(id)).to.deep.equal({})
    })
  }

  it('refuses a parameter that the call does not have, or of another type', async () => {
    const list = 'projects/p/zones/europe-west4-a/disks'

    expect(await ask(`${list}?maxResults=500&filter=labels.a=b&$alt=json`)).to.equal('200')
    expect(await ask(`${list}?returnPartialSuccess=true`)).to.match(/^400 .*returnPartialSuccess/)
    expect(await ask(`${list}?maxResults=many`)).to.match(/^400 .*maxResults/)
    expect(await ask(`${disk}?filter=x`)).to.match(/^400 .*filter/)
    expect(await ask(`${disk}?project=p`)).to.match(/^400 .*project/)
  })

  it('refuses a field mask that names no field of the answer', async () => {
    const masked = (path: string, mask: string) => ask(path, { headers: { 'X-Goog-FieldMask': mask } })

    expect(await masked(disk, 'labels,labelFingerprint')).to.equal('200')
    expect(await masked(disk, 'labels,fingerprint')).to.match(/^400 .*fingerprint in Disk/)
    expect(await masked('projects/p/zones/europe-west4-a/disks', 'items(name,labels),nextPageToken')).to.equal('200')
    expect(await masked('projects/p/zones/europe-west4-a/disks', 'items(tags)')).to.match(
      /^400 .*tags in DiskList.items/,
    )
    expect(await masked(disk, 'name(first)')).to.match(/^400 .*below Disk.name/)
  })
})
