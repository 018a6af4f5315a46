import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const retryMs = 500

/**
 * Runs `work` while no other process on this machine runs one under the same name. The lock is a listening socket in
 * Linux's abstract name space: the kernel frees it however its owner dies, so there is no stale lock to clean up.
 */
export async function withLock<T>(name: string, work: () => Promise<T>, onWait: () => void): Promise<T> {
  // The hash keeps the name below the 107 bytes that an address may have.
  const address = `\0k8s-cloud-tagger-e2e-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
  let waited = false
  for (;;) {
    const server = await listen(address)
    if (server !== undefined) {
      try {
        return await work()
      } finally {
        server.close()
      }
    }
    if (!waited) onWait()
    waited = true
    await sleep(retryMs)
  }
}

function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen(address, () => {
      server.unref()
      resolve(server)
    })
  })
}
