import { digestOf, type Architecture } from './oci.ts'
import type { BundledPackage } from './bundled.ts'
import type { DebianPackage } from './debian.ts'
import type { NodeBinary } from './node-binary.ts'

export interface BillOfMaterials {
  readonly product: {
    readonly name: string
    readonly version: string
    readonly source: string
    readonly license: string
  }
  readonly architecture: Architecture
  /** ISO 8601, whole seconds. */
  readonly created: string
  readonly suite: string
  readonly debianPackages: readonly DebianPackage[]
  readonly node: NodeBinary
  readonly bundledPackages: readonly BundledPackage[]
}

interface SpdxPackage {
  readonly SPDXID: string
  readonly name: string
  readonly versionInfo: string
  readonly downloadLocation: string
  readonly filesAnalyzed: false
  readonly licenseConcluded: 'NOASSERTION'
  readonly licenseDeclared: string
  readonly copyrightText: 'NOASSERTION'
  readonly supplier: 'NOASSERTION'
  readonly checksums?: readonly { readonly algorithm: string; readonly checksumValue: string }[]
  readonly externalRefs: readonly object[]
}

/** SPDX 2.3 in JSON: all that is in the image, and nothing that only built or tested it. */
export function spdxOf(bill: BillOfMaterials): string {
  const product = productPackage(bill)
  const contained = [
    nodePackage(bill),
    ...bill.debianPackages.map((one) => debianPackage(one, bill)),
    ...npmPackages(bill),
  ]
  const packages = [product, ...contained]
  // The same content has the same name, another content another one.
  const content = digestOf(Buffer.from(JSON.stringify(packages))).slice('sha256:'.length, 'sha256:'.length + 32)
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${bill.product.name}-${bill.product.version}-linux-${bill.architecture}`,
    documentNamespace: `${bill.product.source}/spdx/${bill.product.version}/linux-${bill.architecture}-${content}`,
    creationInfo: { created: bill.created, creators: [`Tool: ${bill.product.name}-${bill.product.version}`] },
    packages,
    relationships: [
      relationship('SPDXRef-DOCUMENT', 'DESCRIBES', product),
      ...contained.map((one) => relationship(product.SPDXID, 'CONTAINS', one)),
    ],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

function relationship(from: string, relationshipType: string, { SPDXID }: SpdxPackage): object {
  return { spdxElementId: from, relationshipType, relatedSpdxElement: SPDXID }
}

interface PackageFacts {
  readonly kind: 'product' | 'npm' | 'deb'
  readonly name: string
  readonly version: string
  readonly location: string
  readonly license?: string
  readonly purl: string
  readonly checksum?: readonly [algorithm: string, hex: string]
}

function spdxPackage({ checksum, kind, license, location, name, purl, version }: PackageFacts): SpdxPackage {
  return {
    SPDXID: `SPDXRef-${kind}-${name}-${version}`.replaceAll(/[^A-Za-z0-9.-]/gu, '-'),
    name,
    versionInfo: version,
    downloadLocation: location,
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: license ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    supplier: 'NOASSERTION',
    ...(checksum !== undefined && { checksums: [{ algorithm: checksum[0], checksumValue: checksum[1] }] }),
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
  }
}

function productPackage({ product }: BillOfMaterials): SpdxPackage {
  const { license, name, source, version } = product
  const purl = `pkg:generic/${name}@${version}`
  return spdxPackage({ kind: 'product', name, version, license, purl, location: `git+${source}@v${version}` })
}

function nodePackage({ node }: BillOfMaterials): SpdxPackage {
  return npmPackage({ name: node.packageName, version: node.version, integrity: node.integrity, license: 'MIT' })
}

function npmPackages({ bundledPackages }: BillOfMaterials): readonly SpdxPackage[] {
  // One package can lie in two folders of node_modules.
  return [...new Map(bundledPackages.map((one) => [`${one.name}@${one.version}`, npmPackage(one)])).values()]
}

function npmPackage(one: Pick<BundledPackage, 'name' | 'version' | 'integrity' | 'license'>): SpdxPackage {
  const { integrity, license, name, version } = one
  const file = `${name.slice(name.lastIndexOf('/') + 1)}-${version}.tgz`
  return spdxPackage({
    kind: 'npm',
    name,
    version,
    ...(license !== undefined && { license }),
    location: `https://registry.npmjs.org/${name}/-/${file}`,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    checksum: ['SHA512', Buffer.from(integrity.replace(/^sha512-/u, ''), 'base64').toString('hex')],
  })
}

function debianPackage(
  { file, name, sha256, version }: DebianPackage,
  { architecture, suite }: BillOfMaterials,
): SpdxPackage {
  const packageArchitecture = file.endsWith('_all.deb') ? 'all' : architecture
  const encoded = (text: string) => encodeURIComponent(text)
  return spdxPackage({
    kind: 'deb',
    name,
    version,
    location: `http://deb.debian.org/debian/${file}`,
    purl: `pkg:deb/debian/${encoded(name)}@${encoded(version)}?arch=${packageArchitecture}&distro=${suite}`,
    checksum: ['SHA256', sha256],
  })
}
