import type { GcpFake } from './gcp-fake.ts'

/** What came back: the status, the reason of a refusal, and the body. */
export interface PlainAnswer {
  readonly status: number
  readonly reason: string | undefined
  readonly body: AnswerBody
  readonly headers: Headers
}

export interface AnswerBody {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly labelFingerprint?: string
  readonly status?: string
  readonly nextPageToken?: string
  readonly items?: readonly { readonly name: string; readonly labels?: Readonly<Record<string, string>> }[]
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly errors: readonly { readonly reason: string; readonly domain: string }[]
    readonly details?: readonly object[]
  }
}

export interface PlainClient {
  /** `path` begins with `projects/`. */
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<PlainAnswer>
  readonly post: (path: string, body: unknown, signal?: AbortSignal) => Promise<PlainAnswer>
  /** With the fingerprint that the disk has now, or with this one. */
  readonly setLabels: (
    id: string,
    labels: Readonly<Record<string, string>>,
    fingerprint?: string,
  ) => Promise<PlainAnswer>
}

/** Speaks to a fake without Google's client, so that a test sees what is on the wire. */
export function plainClient(fake: GcpFake): PlainClient {
  const call = async (path: string, init: RequestInit): Promise<PlainAnswer> => {
    const response = await fetch(`${fake.url}/compute/v1/${path}`, init)
    const body = (await response.json()) as AnswerBody
    return { status: response.status, reason: body.error?.errors[0]?.reason, body, headers: response.headers }
  }
  const post = (path: string, body: unknown, signal?: AbortSignal) =>
    call(path, { method: 'POST', body: JSON.stringify(body), ...(signal !== undefined && { signal }) })
  return {
    get: (path, headers = {}) => call(path, { headers }),
    post,
    setLabels: (id, labels, fingerprint = fake.fingerprintOf(id)) =>
      post(`${id}/setLabels`, { labels, labelFingerprint: fingerprint }),
  }
}
