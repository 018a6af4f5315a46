import type { IncomingMessage } from 'node:http'

/**
 * A review carries the object twice, and the API server takes bodies of up to 3 MiB (MaxRequestBodyBytes): with this
 * limit nothing legitimate is refused.
 */
const bodyBytesMax = 8 * 1024 * 1024

/** Callers are anonymous: what all of them together may hold in memory is bounded. */
const bytesInFlightMax = 32 * 1024 * 1024

export class BodyError extends Error {
  override readonly name = 'BodyError'
  readonly status: 400 | 413 | 503

  constructor(status: 400 | 413 | 503, message: string) {
    super(message)
    this.status = status
  }
}

/** Reads request bodies under one shared limit. Throws BodyError, or what the connection failed with. */
export class BodyReader {
  #bytesInFlight = 0

  get bytesInFlight(): number {
    return this.#bytesInFlight
  }

  async read(request: IncomingMessage): Promise<string> {
    const announced = Number(request.headers['content-length'] ?? 0)
    if (announced > bodyBytesMax) throw tooLarge()
    let held = 0
    const hold = (bytes: number) => {
      if (this.#bytesInFlight + bytes > bytesInFlightMax) throw new BodyError(503, 'too many large reviews at once')
      this.#bytesInFlight += bytes
      held += bytes
    }
    try {
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of request as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > bodyBytesMax) throw tooLarge()
        hold(chunk.length)
        chunks.push(chunk)
      }
      if (size === 0) throw new BodyError(400, 'the body is empty')
      return (chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size)).toString('utf8')
    } finally {
      this.#bytesInFlight -= held
    }
  }
}

function tooLarge(): BodyError {
  return new BodyError(413, `the body is larger than ${bodyBytesMax} bytes`)
}
