import type { ResourceType } from './resource-types.ts'

/** Where an object lives, or one of its subresources. */
export interface Place {
  readonly type: ResourceType
  /** Undefined for resources without namespaces. */
  readonly namespace: string | undefined
  readonly name: string
  readonly subresource: '' | 'status'
}
