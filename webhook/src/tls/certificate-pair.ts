import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'

export interface CertificatePair {
  readonly cert: string
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly notAfterMs: number
  /** Of the leaf. */
  readonly fingerprint: string
}

export function isSamePair(a: CertificatePair, b: CertificatePair): boolean {
  return a.cert === b.cert && a.key === b.key
}

/**
 * Reads `tls.crt` and `tls.key` of one generation: kubelet swaps a mounted Secret by renaming the link `..data`, so both
 * are read from the folder that it names now. Rejects where a file is missing, is not PEM, the two do not belong together,
 * or a TLS server would refuse them.
 */
export async function readCertificatePair(directory: string): Promise<CertificatePair> {
  const generation = await realpath(join(directory, '..data')).catch(() => directory)
  const [cert, key] = await Promise.all([
    readFile(join(generation, 'tls.crt'), 'utf8'),
    readFile(join(generation, 'tls.key'), 'utf8'),
  ])
  const leaf = new X509Certificate(cert)
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('tls.key is not the key of tls.crt')
  // A chain that is cut off, a key that is too short: better found out before the last good pair is given up.
  createSecureContext({ cert, key })
  return { cert, key, notAfterMs: leaf.validToDate.getTime(), fingerprint: leaf.fingerprint256 }
}
