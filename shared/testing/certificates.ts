import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 24 * 60 * 60 * 1000

/** Milliseconds since the epoch. A certificate that is not valid yet, or no longer, is made by moving these. */
export interface Validity {
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

/** Both in PEM, as a Secret of type kubernetes.io/tls holds them; the key is PKCS #8. */
export interface KeyAndCertificate {
  readonly certificate: string
  readonly key: string
}

/**
 * A private ECDSA P-256 authority for tests and the demo. Each instance has a key of its own, so that two of them never
 * trust each other's leaves.
 */
export class CertificateAuthority {
  readonly #certificate: X509Certificate
  readonly #keys: webcrypto.CryptoKeyPair

  private constructor(certificate: X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.#certificate = certificate
    this.#keys = keys
  }

  /** Valid from an hour ago for ten years unless stated. */
  static async create(commonName = 'test authority', validity = validFor(3650)): Promise<CertificateAuthority> {
    const keys = await generateKeys()
    const certificate = await X509CertificateGenerator.create(
      {
        subject: `CN=${commonName}`,
        issuer: `CN=${commonName}`,
        ...datesOf(validity),
        serialNumber: serialNumber(),
        signingAlgorithm: algorithm,
        publicKey: keys.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new BasicConstraintsExtension(true, undefined, true),
          new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
          await SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      },
      webcrypto,
    )
    return new CertificateAuthority(certificate, keys)
  }

  /** The authority's own certificate: what `caBundle` and kubeconfig files hold, before base64. */
  get certificate(): string {
    return this.#certificate.toString('pem')
  }

  /**
   * A server certificate for these DNS names and IP addresses. It has no common name, since every client of ours reads
   * the alternative names only. With `names` empty it has no alternative names either, which clients must refuse.
   */
  async issue(names: readonly string[], validity = validFor(90)): Promise<KeyAndCertificate> {
    const keys = await generateKeys()
    const extensions: Extension[] = [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      await AuthorityKeyIdentifierExtension.create(this.#certificate),
    ]
    if (names.length > 0) {
      // Critical where the subject is empty (RFC 5280, 4.2.1.6).
      extensions.push(new SubjectAlternativeNameExtension(names.map(toGeneralName), true))
    }
    const certificate = await X509CertificateGenerator.create(
      {
        issuer: this.#certificate.subject,
        ...datesOf(validity),
        serialNumber: serialNumber(),
        signingAlgorithm: algorithm,
        publicKey: keys.publicKey,
        signingKey: this.#keys.privateKey,
        extensions,
      },
      webcrypto,
    )
    const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
    return { certificate: certificate.toString('pem'), key: PemConverter.encode(key, 'PRIVATE KEY') }
  }
}

/** From an hour ago (clocks differ) until `days` from now; a negative number gives an expired certificate. */
export function validFor(days: number): Validity {
  const nowMs = Date.now()
  const notAfterMs = nowMs + days * dayMs
  return { notBeforeMs: Math.min(nowMs, notAfterMs) - 60 * 60 * 1000, notAfterMs }
}

function datesOf(validity: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(validity.notBeforeMs), notAfter: new Date(validity.notAfterMs) }
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16))
  // A serial number is a positive integer; a set top bit would make it negative.
  bytes[0] = (bytes[0] ?? 0) & 0x7f
  return Buffer.from(bytes).toString('hex')
}

function toGeneralName(name: string): { type: 'ip' | 'dns'; value: string } {
  return { type: isIP(name) === 0 ? 'dns' : 'ip', value: name }
}
