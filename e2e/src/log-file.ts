import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 20

/** The lines that a process wrote, read from its file whenever they are asked for. */
export class LogFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  text(): string {
    return existsSync(this.path) ? readFileSync(this.path, 'utf8') : ''
  }

  lines(): readonly string[] {
    return this.text()
      .split('\n')
      .filter((line) => line !== '')
  }

  tail(count: number): string {
    return this.lines().slice(-count).join('\n')
  }

  /** The lines that are JSON objects, as our programs write them. */
  records(): readonly Readonly<Record<string, unknown>>[] {
    return this.lines().flatMap((line) => {
      const record = line.startsWith('{') ? parsed(line) : undefined
      return record === undefined ? [] : [record]
    })
  }

  /** Resolves to the first line, old or new, that contains or matches `wanted`. */
  async waitForLine(wanted: string | RegExp, { timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<string> {
    const deadlineMs = performance.now() + timeoutMs
    let offset = 0
    let rest = ''
    for (;;) {
      const added = await readFrom(this.path, offset)
      offset += added.length
      const lines = (rest + added.toString('utf8')).split('\n')
      rest = lines.pop() ?? ''
      const found = lines.find((line) => (typeof wanted === 'string' ? line.includes(wanted) : wanted.test(line)))
      if (found !== undefined) return found
      if (performance.now() > deadlineMs) {
        throw new Error(`No line with ${wanted} in ${this.path} within ${timeoutMs} ms; its end:\n${this.tail(20)}`)
      }
      await sleep(pollMs)
    }
  }
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** What was appended to a file since `offset`; nothing where there is no such file yet. */
export async function readFrom(path: string, offset: number): Promise<Buffer> {
  if (!existsSync(path)) return Buffer.alloc(0)
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.max(0, size - offset))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
