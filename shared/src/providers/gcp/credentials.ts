import { GoogleAuth, gcpMetadata } from 'google-auth-library'
import type { Clock } from '../../runtime/clock.ts'
import { NoCredentials } from './errors.ts'

/** Who we are to Google. Both methods throw NoCredentials. */
export interface Credentials {
  /** What authorizes one request. */
  headers(): Promise<Headers>
  /** The project that we run in, by the metadata server. */
  projectId(): Promise<string>
  /** The API did not know a token of ours: the next one must be new. */
  refused(): void
}

const hints: Readonly<Record<string, string>> = {
  project: 'a volume names no project, gcp.project is not set, and the metadata server was asked in vain: ',
}
const scope = 'https://www.googleapis.com/auth/compute'

/**
 * Application Default Credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names, else the metadata server, which on
 * GKE is that of Workload Identity. Looked for with the first call, and anew after every failure: the library itself
 * remembers for good that there was no metadata server, and on GKE it is not there for some seconds after a pod's start.
 */
export class DefaultCredentials implements Credentials {
  readonly #clock: Clock
  readonly #timeoutMs: number
  #auth: GoogleAuth | undefined

  constructor(options: { readonly clock: Clock; readonly timeoutMs: number }) {
    this.#clock = options.clock
    this.#timeoutMs = options.timeoutMs
  }

  async headers(): Promise<Headers> {
    // Without a project the library looks for one, in files and by running gcloud; no request of ours needs it.
    this.#auth ??= new GoogleAuth({ scopes: [scope], projectId: 'unused' })
    const auth = this.#auth
    return this.#found('token', async () => (await auth.getClient()).getRequestHeaders())
  }

  async projectId(): Promise<string> {
    return this.#found('project', () => gcpMetadata.project<string>('project-id'))
  }

  refused(): void {
    this.#auth = undefined
    gcpMetadata.resetIsAvailableCache()
  }

  async #found<Answer>(wanted: string, ask: () => Promise<Answer>): Promise<Answer> {
    const auth = this.#auth
    try {
      return await this.#inTime(wanted, ask())
    } catch (cause) {
      if (this.#auth === auth) this.refused()
      throw new NoCredentials(`${hints[wanted] ?? ''}${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      })
    }
  }

  /** The library waits for a metadata server without end, and whoever comes later waits with it. */
  async #inTime<Answer>(wanted: string, answer: Promise<Answer>): Promise<Answer> {
    const late = Promise.withResolvers<never>()
    const timer = this.#clock.setTimer(this.#timeoutMs, () => {
      late.reject(Object.assign(new Error(`no ${wanted} within ${this.#timeoutMs} ms`), { code: 'TimeoutError' }))
    })
    try {
      return await Promise.race([answer, late.promise])
    } finally {
      timer.cancel()
    }
  }
}
