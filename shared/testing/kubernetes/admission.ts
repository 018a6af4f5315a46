import type { JsonObject, KubeObject } from './objects.ts'
import type { ResourceType } from './resource-types.ts'
import type { UserInfo } from './users.ts'

/** One write as the admission chain sees it. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly type: ResourceType
  readonly namespace: string | undefined
  readonly name: string
  readonly subresource: string
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly user: UserInfo
  readonly dryRun: boolean
  readonly options: JsonObject
  readonly warnings: string[]
}

export interface Admission {
  /** Runs the mutating webhooks one after another and gives what they made of the object. Throws to refuse the write. */
  mutate(request: AdmissionRequest & { readonly object: KubeObject }): Promise<KubeObject>
  mutate(request: AdmissionRequest): Promise<KubeObject | undefined>
  /** Runs the validating webhooks at the same time. Throws to refuse the write. */
  validate(request: AdmissionRequest): Promise<void>
}
