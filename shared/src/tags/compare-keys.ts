/** The order of keys: by UTF-16 units, the same on every machine and in every locale. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
