// An object is at most about 1.5 MiB in etcd; what is longer comes from something that is no API server.
const lineBytesMax = 16 * 1024 * 1024

/**
 * The lines of a watch, parsed as they come. A line that is no JSON is undefined, so that one broken event does not end
 * the watch; an unfinished line at the end is dropped, since the cut that caused it shows itself. `onChunk` hears every
 * sign of life.
 */
export async function* parsedLines(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: () => void,
): AsyncGenerator<unknown, void, undefined> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  for await (const chunk of chunks) {
    onChunk()
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const part = chunk.subarray(start, end)
      const line = pending.length === 0 ? part : Buffer.concat([...pending, part])
      pending = []
      pendingBytes = 0
      start = end + 1
      if (line.length > 0) yield parse(line)
    }
    if (start === chunk.length) continue
    pending.push(chunk.subarray(start))
    pendingBytes += chunk.length - start
    if (pendingBytes > lineBytesMax) throw new Error(`a line of the watch is longer than ${lineBytesMax} bytes`)
  }
}

const newline = 0x0a

function parse(line: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
