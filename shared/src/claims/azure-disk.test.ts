import { expect } from 'chai'
import * as fc from 'fast-check'
import { azureDiskIdOf, azureDiskNameOf, azureDiskOfCsi, azureDiskOfUri } from './azure-disk.ts'

const subscription = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'
const armId = (group: string, name: string) =>
  `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Compute/disks/${name}`
const id = armId('MC_prod_aks_westeurope', 'pvc-11111111-2222-3333-4444-555555555555')
const driver = 'disk.csi.azure.com'

describe('a disk of Azure', () => {
  it('is one disk, however its id is spelled', () => {
    const spellings = [id, id.toLowerCase(), id.toUpperCase(), id.replace('resourceGroups', 'resourcegroups')]

    const ids = new Set(spellings.map(azureDiskIdOf))

    expect([...ids]).to.deep.equal([id.toLowerCase()])
    expect(azureDiskOfCsi(driver, id)).to.deep.equal(azureDiskOfUri(id.toUpperCase()))
  })

  it('is named by subscription, resource group and name', () => {
    expect(azureDiskNameOf(id)).to.deep.equal({
      subscription,
      resourceGroup: 'mc_prod_aks_westeurope',
      name: 'pvc-11111111-2222-3333-4444-555555555555',
    })
  })

  for (const [group, name] of [
    ['rg', 'd'],
    ['My.Group-(1)_x', 'Disk_1.2-3'],
    ['größe', 'data'],
    ['g'.repeat(90), 'd'.repeat(80)],
  ] as const) {
    it(`may be called ${name.slice(0, 20)} in ${group.slice(0, 20)}`, () => {
      expect(azureDiskOfCsi(driver, armId(group, name)).kind).to.equal('disk')
    })
  }

  for (const [when, handle] of [
    ['nothing', ''],
    ['another kind of resource', id.replace('disks', 'snapshots')],
    ['a resource of another provider', id.replace('Microsoft.Compute', 'Microsoft.Storage')],
    ['something below a disk', `${id}/providers/Microsoft.Resources`],
    ['a resource group', `/subscriptions/${subscription}/resourceGroups/rg`],
    ['a subscription that is none', id.replace(subscription, 'not-a-subscription')],
    ['an id without its first slash', id.slice(1)],
    ['an id with something before it', `https://management.azure.com${id}`],
    ['a step upwards', armId('rg', '..')],
    ['a step upwards as a group', armId('..', 'disk')],
    ['a query', `${id}?api-version=1`],
    ['a quote', armId("rg' or '1'='1", 'disk')],
    ['a line break', `${id}\n`],
    ['an escape', armId('rg', '%2e%2e')],
    ['a name that is too long', armId('rg', 'd'.repeat(81))],
    ['a volume of AWS', 'vol-0123456789abcdef0'],
  ] as const) {
    it(`is not ${when}`, () => {
      expect(azureDiskOfCsi(driver, handle)).to.deep.include({ kind: 'not-a-disk', reason: 'malformed-handle' })
    })
  }

  it('is not what the drivers of Files and Blob name, nor what another cloud names, whatever the handle', () => {
    for (const other of ['file.csi.azure.com', 'blob.csi.azure.com', 'ebs.csi.aws.com', 'DISK.csi.azure.com']) {
      expect(azureDiskOfCsi(other, id)).to.deep.equal({
        kind: 'not-a-disk',
        reason: 'unsupported-volume',
        detail: other,
      })
    }
  })

  it('is not a VHD in a storage account', () => {
    for (const scheme of ['http', 'https', 'HTTPS']) {
      const lookup = azureDiskOfUri(`${scheme}://account.blob.core.windows.net/vhds/data.vhd`)

      expect(lookup).to.include({ kind: 'not-a-disk', reason: 'unsupported-volume' })
    }
  })

  it('shows no more of a strange handle than a line can hold', () => {
    expect(azureDiskOfCsi(driver, 'x'.repeat(5000)))
      .to.have.property('detail')
      .with.length(128)
  })

  it('has an id that is its own id, safe in a URL path and in a query', () => {
    const piece = fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.stringMatching(/^[A-Za-z0-9_.()-]{0,95}$/))
    fc.assert(
      fc.property(
        fc.oneof(
          piece,
          fc.tuple(piece, piece).map(([group, name]) => armId(group, name)),
        ),
        (handle) => {
          const found = azureDiskIdOf(handle)
          if (found === undefined) return

          expect(azureDiskIdOf(found)).to.equal(found)
          expect(azureDiskIdOf(handle.replace(/[a-z]/g, (letter) => letter.toUpperCase()))).to.equal(found)
          expect(/['"\\%?#<>\s]|\/\.{1,2}(\/|$)/.test(found)).to.equal(false)
          expect(found.split('/')).to.have.length(9)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
