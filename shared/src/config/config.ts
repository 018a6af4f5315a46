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
  readonly reportOnly: boolean
  readonly scope: ScopeConfig
  readonly tags: TagsConfig
  readonly admission: AdmissionConfig
  readonly metrics: { readonly requiredByNamespace: boolean }
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

export interface Globs {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

export interface ScopeConfig {
  readonly namespaces: Globs
  readonly storageClasses: Globs
  readonly claimSelector: string
  readonly namespaceSelector: string
}

export interface TagsConfig {
  readonly labels: Globs
  readonly annotations: Globs
  readonly namespaceLabels: Globs
  readonly defaults: Readonly<Record<string, string>>
  readonly enforced: Readonly<Record<string, string>>
  readonly rename: Readonly<Record<string, string>>
  readonly prefix: string
  readonly denyValues: readonly string[]
  readonly allowedKeys: readonly string[]
  readonly claimTags: boolean
  readonly optOut: boolean
  readonly annotationPrefixes: readonly string[]
  readonly onConflict: 'overwrite' | 'preserve'
  readonly onRemoval: 'remove' | 'keep'
  readonly acknowledgedRemovals: readonly string[]
  readonly compatibility: 'none' | 'rust-0.4' | 'k8s-pvc-tagger'
  readonly adopt: 'none' | 'rust-0.4' | 'k8s-pvc-tagger'
}

export type Verdict = 'off' | 'warn' | 'deny'

export interface AdmissionConfig {
  readonly problems: Readonly<Record<ProblemName, Verdict>>
  readonly requiredLabels: readonly string[]
  readonly defaultLabels: Readonly<Record<string, string>>
}

export type ProblemName =
  | 'protectedKey'
  | 'invalidKey'
  | 'invalidValue'
  | 'changedKey'
  | 'changedValue'
  | 'collision'
  | 'overLimit'
  | 'deniedValue'
  | 'enforced'
  | 'invalidAnnotation'
  | 'invalidTemplate'
  | 'missingLabel'
