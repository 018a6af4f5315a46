import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ManagedProcess } from './managed-process.ts'

export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

export interface HttpOptions {
  readonly caPem?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Default 2,000. */
  readonly timeoutMs?: number
}

/** One GET over a connection of its own; rejects where nobody answers in time. */
export async function httpGet(url: string, options: HttpOptions = {}): Promise<HttpAnswer> {
  const common = {
    agent: false,
    headers: { ...options.headers },
    signal: AbortSignal.timeout(options.timeoutMs ?? 2000),
  } as const
  const outgoing = url.startsWith('https:')
    ? httpsRequest(url, { ...common, ...(options.caPem !== undefined && { ca: options.caPem }) })
    : httpRequest(url, common)
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, body: await text(response) }
}

/**
 * Resolves when `url` answers with 200. Rejects, with the process's last words, when it has ended or the time is over.
 */
export async function waitForHttp(
  url: string,
  options: HttpOptions & { readonly process: ManagedProcess; readonly withinMs?: number },
): Promise<void> {
  const withinMs = options.withinMs ?? 30_000
  const deadlineMs = performance.now() + withinMs
  let last = 'no answer yet'
  while (options.process.running) {
    try {
      const answer = await httpGet(url, options)
      if (answer.status === 200) return
      last = `${answer.status} ${answer.body}`
    } catch (error) {
      last = String(error)
    }
    if (performance.now() > deadlineMs) {
      throw new Error(`${url} was not ready within ${withinMs} ms (${last}); ${options.process.describe()}`)
    }
    await sleep(50)
  }
  throw new Error(options.process.describe())
}
