import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below 32768, where Linux's ephemeral range begins: no outgoing connection takes such a port before its server does.
const firstPort = 20_000
const endPort = 32_768

/** A port on loopback that nobody listens on: the programs' config wants one that is known beforehand. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(firstPort, endPort)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port on loopback in ${firstPort}-${endPort - 1}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
