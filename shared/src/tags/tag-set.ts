/** Tags by key. A Map and not an object: a label may be called `__proto__`. Order is that of insertion and means nothing. */
export type TagSet = ReadonlyMap<string, string>

export function sameTags(a: TagSet, b: TagSet): boolean {
  if (a.size !== b.size) return false
  for (const [key, value] of a) if (b.get(key) !== value) return false
  return true
}

/** Why a wished tag will not arrive as it was wished. */
export interface TagProblem {
  readonly kind: TagProblemKind
  /** The key on the Kubernetes side. */
  readonly label: string
  /** The tag key it became; undefined where the tag was dropped. */
  readonly tag: string | undefined
  /** One sentence for people: what was wrong and what was done. */
  readonly message: string
}

export type TagProblemKind =
  | 'protected-key'
  | 'invalid-key'
  | 'invalid-value'
  | 'changed-key'
  | 'changed-value'
  | 'collision'
  | 'over-limit'
  | 'denied-value'
  /** The claim asks for another value of a tag that the config enforces. */
  | 'enforced'
  | 'invalid-annotation'
  | 'invalid-template'
