/** The few methods and fields of `@google-cloud/compute` that we use. */

/** What its HTTP layer asks to send its requests. It must have no `getClient`, or credentials are looked for at once. */
export interface RequestSender {
  getRequestHeaders(): Promise<Headers>
  fetch(url: string, init: SdkRequest): Promise<SdkResponse>
}

export interface SdkRequest {
  readonly method: string
  readonly headers: Headers
  readonly body?: string
  readonly signal: AbortSignal
}

export interface SdkResponse {
  readonly status: number
  readonly ok: boolean
  arrayBuffer(): Promise<ArrayBuffer>
}

export interface ClientOptions {
  readonly auth: RequestSender
  /** A host without scheme and port. */
  readonly apiEndpoint?: string
  readonly port?: number
  readonly protocol?: 'http' | 'https'
}

export interface CallOptions {
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly timeout: number
  readonly retry: { readonly retryCodes: readonly number[] }
  readonly autoPaginate?: false
  readonly otherArgs?: { readonly headers: Readonly<Record<string, string>> }
}

export interface DiskResource {
  readonly name?: string | null
  readonly labels?: Readonly<Record<string, string>> | null
  readonly labelFingerprint?: string | null
}

export interface ListParameters {
  readonly filter?: string
  readonly maxResults?: number
  readonly pageToken?: string
}

export interface LabelsRequest {
  readonly labels: Readonly<Record<string, string>>
  readonly labelFingerprint: string
}

export interface Operation {
  readonly latestResponse: {
    readonly httpErrorStatusCode?: number | null
    readonly httpErrorMessage?: string | null
    readonly error?: {
      readonly errors?: readonly { readonly code?: string | null; readonly message?: string | null }[]
    } | null
  }
}

export type ListAnswer = [
  disks: readonly DiskResource[],
  nextRequest: unknown,
  answer: { readonly nextPageToken?: string | null } | null,
]
