/** The few fields of a Namespace that the product reads. */
export interface NamespaceInfo {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly labels: Readonly<Record<string, string>>
  readonly deleting: boolean
}
