import { once } from 'node:events'
import { connect, type PeerCertificate } from 'node:tls'

/** The certificate that a server shows somebody who trusts `caPem` alone. Rejects where it does not verify. */
export async function servedCertificate(options: {
  readonly host: string
  readonly port: number
  readonly name: string
  readonly caPem: string
}): Promise<PeerCertificate> {
  const socket = connect({
    host: options.host,
    port: options.port,
    servername: options.name,
    ca: options.caPem,
    timeout: 5000,
  })
  try {
    await once(socket, 'secureConnect')
    return socket.getPeerCertificate()
  } finally {
    socket.destroy()
  }
}
