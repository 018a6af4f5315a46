import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below 32768, where Linux's ephemeral range begins: no outgoing connection takes a port of these between our look and
// the server's bind.
const firstPort = 20_000
const endPort = 32_768
const attempts = 200

/** Ports on loopback that nobody listens on, for servers that cannot be told to choose one themselves. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>()
  for (let attempt = 0; found.size < count; attempt++) {
    if (attempt === attempts) throw new Error(`No ${count} free ports on loopback in ${firstPort}-${endPort - 1}`)
    const port = randomInt(firstPort, endPort)
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
