import { createHash } from 'node:crypto'
import type { RequestOptions } from 'node:https'
import { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../runtime/clock.ts'
import type { Logger } from '../runtime/logger.ts'
import { KubernetesError } from './kubernetes-error.ts'

/** Reads everything afresh at each call, so that rotated files are seen. */
export type LoadKubeConfig = () => KubeConfig

/** Merged in order, as KUBECONFIG's list is: the first file's current context counts. */
export function kubeconfigFiles(paths: readonly string[]): LoadKubeConfig {
  return () => {
    const [first, ...rest] = paths
    if (first === undefined) throw new Error('no kubeconfig path was given')
    const config = new KubeConfig()
    config.loadFromFile(first)
    for (const path of rest) {
      const more = new KubeConfig()
      more.loadFromFile(path)
      config.mergeConfig(more, true)
    }
    return config
  }
}

/** The same with another context than the current one. Throws, when it is loaded, where there is none of that name. */
export function inContext(load: LoadKubeConfig, context: string): LoadKubeConfig {
  return () => {
    const config = load()
    if (config.getContextObject(context) === null) throw new Error(`the kubeconfig has no context ${context}`)
    config.setCurrentContext(context)
    return config
  }
}

export function kubeconfigText(yaml: string): LoadKubeConfig {
  return () => {
    const config = new KubeConfig()
    config.loadFromString(yaml)
    return config
  }
}

/**
 * The pod's own service account, in `/var/run/secrets/kubernetes.io/serviceaccount` below `root`; the address comes from
 * KUBERNETES_SERVICE_HOST and _PORT.
 */
export function podServiceAccount(root = ''): LoadKubeConfig {
  return () => {
    const config = new KubeConfig()
    config.loadFromCluster(root)
    return config
  }
}

export interface TlsOptions {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly rejectUnauthorized?: boolean
  readonly servername?: string
}

export interface Credentials {
  /** Base URL without a trailing slash; may have a path of its own, as Rancher's have. */
  readonly server: string
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsOptions
  /** Equal where a connection made for the one serves the other. */
  readonly tlsFingerprint: string
}

// As client-go: a service account's token is written anew long before it ends.
const refreshMs = 60_000
// A server that answers 401 to everything must not make us run a credential plugin for each call.
const reloadAtMostEveryMs = 5_000

/**
 * Who we are to the API server, read again every 60 s and after a 401. The library knows the ways to authenticate
 * (token, file, client certificate, exec plugin, OIDC); this keeps its answer, since asking it reads files.
 */
export class ClusterCredentials {
  readonly #load: LoadKubeConfig
  readonly #clock: Clock
  readonly #logger: Logger
  #config: KubeConfig | undefined
  #latest: Credentials | undefined
  #readAtMs = Number.NEGATIVE_INFINITY
  /** One read serves all calls that wait for it. */
  #reading: Promise<Credentials> | undefined

  constructor(deps: { readonly load: LoadKubeConfig; readonly clock: Clock; readonly logger: Logger }) {
    this.#load = deps.load
    this.#clock = deps.clock
    this.#logger = deps.logger
  }

  /** Throws KubernetesError 'unavailable' where there are none and never were. */
  async current(): Promise<Credentials> {
    if (this.#latest !== undefined && this.#ageMs() < refreshMs) return this.#latest
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined))
    return this.#reading
  }

  /** After a 401 to `refused`: true where there are other credentials now, so that another try makes sense. */
  async renew(refused: Credentials): Promise<boolean> {
    if (this.#latest === refused) {
      if (this.#ageMs() < reloadAtMostEveryMs) return false
      // Forgets what the library keeps as well: token, plugin's answer, file's content.
      this.#config = undefined
      this.#readAtMs = Number.NEGATIVE_INFINITY
    }
    return (await this.current()) !== refused
  }

  #ageMs(): number {
    return this.#clock.monotonicMs() - this.#readAtMs
  }

  async #read(): Promise<Credentials> {
    try {
      const config = this.#config !== undefined && renewsItself(this.#config) ? this.#config : this.#load()
      this.#latest = await credentialsOf(config)
      this.#config = config
    } catch (error) {
      if (this.#latest === undefined) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new KubernetesError('unavailable', `no credentials for the API server: ${reason}`, { cause: error })
      }
      // A file in the middle of being replaced; what we have may well be good still.
      this.#logger.warn({ err: error }, 'credentials for the API server could not be read again')
    }
    this.#readAtMs = this.#clock.monotonicMs()
    return this.#latest
  }
}

/** A plugin or OIDC: the library keeps the answer until it expires, and a fresh KubeConfig would ask again each minute. */
function renewsItself(config: KubeConfig): boolean {
  const user = config.getCurrentUser() as { exec?: unknown; authProvider?: { config?: { tokenFile?: unknown } } } | null
  if (user?.exec !== undefined && user.exec !== null) return true
  return user?.authProvider !== undefined && user.authProvider !== null && !user.authProvider.config?.tokenFile
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error('the kubeconfig has no current cluster')
  const options: RequestOptions = {}
  await config.applyToHTTPSOptions(options)
  const { ca, cert, key, rejectUnauthorized, servername } = options
  const tls = Object.fromEntries(
    Object.entries({ ca, cert, key, rejectUnauthorized, servername }).filter(([, value]) => value !== undefined),
  ) as TlsOptions
  return {
    server: cluster.server.replace(/\/+$/, ''),
    headers: headersOf(options),
    tls,
    tlsFingerprint: createHash('sha256')
      .update(JSON.stringify([cluster.server, tls]))
      .digest('base64'),
  }
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries((options.headers ?? {}) as Record<string, unknown>)) {
    // A token read from a file ends with a newline in some set-ups, which no header may hold.
    headers[name.toLowerCase()] = String(value).trim()
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`
  }
  return headers
}
