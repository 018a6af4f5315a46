import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

const bodyBytesMax = 4 * 1024 * 1024
const chunkCharsMin = 64 * 1024

/** Undefined where the client went away before it had said everything, or said too much. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > bodyBytesMax) {
        request.destroy()
        return undefined
      }
      chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString()
}

export interface HttpAnswer {
  readonly status: number
  readonly type: string
  readonly body: string | Iterable<string>
  readonly headers?: Readonly<Record<string, string>>
}

/** Streams what comes in pieces, at the pace at which the client reads. */
export async function send(response: ServerResponse, { status, type, body, headers = {} }: HttpAnswer): Promise<void> {
  if (response.destroyed) return
  response.writeHead(status, { ...headers, 'Content-Type': type })
  if (typeof body === 'string') {
    response.end(body)
    return
  }
  let chunk = ''
  for (const piece of body) {
    chunk += piece
    if (chunk.length < chunkCharsMin) continue
    const room = response.write(chunk)
    chunk = ''
    if (!room) await drainedOrClosed(response)
    if (response.destroyed) return
  }
  response.end(chunk)
}

export function jsonAnswer(status: number, value: object): HttpAnswer {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

async function drainedOrClosed(response: ServerResponse): Promise<void> {
  const waiting = new AbortController()
  const { signal } = waiting
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } catch {
    // The client has gone; whoever writes next sees the response destroyed.
  } finally {
    waiting.abort()
  }
}
