/**
 * The config file as the programs use it: every default filled in, durations still as written (`durationMs` reads them).
 * `config-schema.ts` says what each key means and allows; the two are kept alike by the compiler and a test.
 */
export interface Config {
  readonly cloudProvider: 'mock' | 'aws' | 'azure' | 'gcp'
  readonly clusterName: string
  readonly requeue: { readonly success: string; readonly notReady: string; readonly error: string }
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' }
  readonly http: { readonly address: string; readonly port: number }
  readonly webhook: {
    readonly enabled: boolean
    readonly address: string
    readonly port: number
    readonly certificateDirectory: string
    readonly excludedNamespaces: readonly string[]
  }
  readonly reconciler: {
    readonly enabled: boolean
    readonly headStart: string
    readonly lease: { readonly name: string; readonly namespace: string }
  }
  readonly tags: { readonly onConflict: 'overwrite' | 'preserve' }
  readonly events: { readonly normal: boolean }
  readonly budget: {
    readonly profile: 'shared' | 'exclusive'
    readonly webhookReplicas: number
    readonly webhookShare: number
  }
  readonly aws: { readonly region: string; readonly endpoint: string; readonly callTimeout: string }
  readonly gcp: { readonly project: string; readonly endpoint: string; readonly callTimeout: string }
  readonly azure: {
    readonly resourceManagerEndpoint: string
    readonly authorityHost: string
    readonly callTimeout: string
  }
}
