/** The one operation of RFC 6902 that is needed. A patch that does not apply fails the request, `Ignore` or not. */
export interface PatchOperation {
  readonly op: 'add'
  readonly path: string
  readonly value: string | Readonly<Record<string, string>>
}

/** Adds labels that are not there: into the map, or with the map where there is none. */
export function addLabels(
  labels: ReadonlyMap<string, string>,
  into: { readonly hasLabels: boolean },
): PatchOperation[] {
  if (labels.size === 0) return []
  if (!into.hasLabels) return [{ op: 'add', path: '/metadata/labels', value: Object.fromEntries(labels) }]
  return [...labels].map(([key, value]) => ({ op: 'add', path: `/metadata/labels/${pointerPart(key)}`, value }))
}

/** RFC 6901: `~` first, or the tilde of an escaped slash would be escaped again. */
function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
