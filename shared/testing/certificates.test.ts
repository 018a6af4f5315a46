import { expect } from 'chai'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createServer, get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CertificateAuthority, type KeyAndCertificate, validFor } from './certificates.ts'

describe('CertificateAuthority', () => {
  let authority: CertificateAuthority

  before(async () => {
    authority = await CertificateAuthority.create('an authority')
  })

  it('is a P-256 authority that signs itself', () => {
    const certificate = new X509Certificate(authority.certificate)

    expect(certificate.ca).to.be.true
    expect(certificate.subject).to.equal('CN=an authority')
    expect(certificate.checkIssued(certificate)).to.be.true
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).to.equal('prime256v1')
  })

  it('issues leaves with the names asked for and a key that fits', async () => {
    const leaf = await authority.issue(['hook.team.svc', '127.0.0.1', '::1'])

    const certificate = new X509Certificate(leaf.certificate)
    expect(certificate.subjectAltName).to.equal('DNS:hook.team.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1')
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).to.be.true
    expect(certificate.checkPrivateKey(createPrivateKey(leaf.key))).to.be.true
    expect(certificate.ca).to.be.false
  })

  it('is believed by a TLS client that was given the authority, for the names in the leaf only', async () => {
    const leaf = await authority.issue(['hook.team.svc'])

    expect(await handshake(leaf, authority, 'hook.team.svc')).to.equal('trusted')
    expect(await handshake(leaf, authority, 'other.team.svc')).to.equal('ERR_TLS_CERT_ALTNAME_INVALID')
  })

  it('is not believed by a client of another authority, of the same name even', async () => {
    const other = await CertificateAuthority.create('an authority')
    const leaf = await authority.issue(['hook.team.svc'])

    expect(await handshake(leaf, other, 'hook.team.svc')).to.not.equal('trusted')
  })

  it('makes certificates that are expired, about to expire, or not valid yet', async () => {
    const expired = await authority.issue(['a'], validFor(-1))
    const nearExpiry = await authority.issue(['a'], validFor(1))
    const nowMs = Date.now()
    const future = await authority.issue(['a'], { notBeforeMs: nowMs + 60_000, notAfterMs: nowMs + 120_000 })

    expect(Date.parse(new X509Certificate(expired.certificate).validTo)).to.be.below(nowMs)
    expect(Date.parse(new X509Certificate(nearExpiry.certificate).validTo)).to.be.closeTo(nowMs + 86_400_000, 5000)
    expect(Date.parse(new X509Certificate(future.certificate).validFrom)).to.be.above(nowMs)
    expect(await handshake({ ...expired }, authority, 'a')).to.equal('CERT_HAS_EXPIRED')
  })

  it('leaves the alternative names out when there are none', async () => {
    const leaf = await authority.issue([])

    expect(new X509Certificate(leaf.certificate).subjectAltName).to.be.undefined
  })
})

/** `trusted`, or the code of the client's error. */
async function handshake(leaf: KeyAndCertificate, trusted: CertificateAuthority, servername: string): Promise<string> {
  const server = createServer({ cert: leaf.certificate, key: leaf.key }, (_, response) => response.end())
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    return await new Promise<string>((resolve) => {
      get({ host: '127.0.0.1', port, servername, ca: trusted.certificate, agent: false }, (response) => {
        response.resume()
        response.on('end', () => resolve('trusted'))
      }).on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
