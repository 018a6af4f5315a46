import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'

export interface CertificatePair {
  readonly cert: string
  readonly key: string
  /** Milliseconds since the epoch. */
  readonly notAfterMs: number
  /** Of the leaf; tells whether two pairs are the same. */
  readonly fingerprint: string
}

/**
 * Reads `tls.crt` and `tls.key` of one generation: kubelet swaps a mounted Secret by renaming the link `..data`, so both
 * are read from the folder that it names now. Rejects where a file is missing, is not PEM, or the two do not belong
 * together.
 */
export async function readCertificatePair(directory: string): Promise<CertificatePair> {
  const generation = await realpath(join(directory, '..data')).catch(() => directory)
  const [cert, key] = await Promise.all([
    readFile(join(generation, 'tls.crt'), 'utf8'),
    readFile(join(generation, 'tls.key'), 'utf8'),
  ])
  const leaf = new X509Certificate(cert)
  if (!leaf.checkPrivateKey(createPrivateKey(key))) throw new Error('tls.key is not the key of tls.crt')
  return { cert, key, notAfterMs: leaf.validToDate.getTime(), fingerprint: leaf.fingerprint256 }
}
