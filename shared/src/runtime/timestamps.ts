/** Kubernetes times on the wire are RFC 3339; a typed client may have parsed them already. */
export function timestampMs(value: string | Date | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = value instanceof Date ? value.getTime() : Date.parse(value)
  return Number.isNaN(ms) ? undefined : ms
}

export function isoTimestamp(wallMs: number): string {
  return new Date(wallMs).toISOString()
}
