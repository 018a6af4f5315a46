/** A disk as its cloud names it. */
export interface DiskRef {
  /** What the provider's calls take, for AWS `vol-0123456789abcdef0`. Two volumes that name one disk have equal ids. */
  readonly id: string
}
