/** Whose keys and values the disks carry: ours, or those that an earlier tool wrote, which then stay as they are. */
export type Compatibility = 'none' | 'rust-0.4' | 'k8s-pvc-tagger'

/** How labels become tags, as far as it is the user's choice. */
export interface TagForm {
  readonly compatibility: Compatibility
  /** Protected keys, as tags in the cloud's own form, that may be written all the same. Never those the cloud refuses. */
  readonly allowedKeys: ReadonlySet<string>
}

export const ownForm: TagForm = { compatibility: 'none', allowedKeys: new Set() }
