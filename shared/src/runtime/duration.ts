const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** What a duration in the config looks like: one whole number and one unit. */
export const durationPattern = '^[1-9][0-9]{0,8}(ms|s|m|h)$'

/** Milliseconds of `30s`, `5m`, `1h`, `250ms`. The config schema has checked the form. */
export function durationMs(text: string): number {
  const match = /^([0-9]+)(ms|s|m|h)$/.exec(text)
  const [, amount, unit] = match ?? []
  const each = unit === undefined ? undefined : unitMs[unit]
  if (amount === undefined || each === undefined) throw new Error(`not a duration: ${text}`)
  return Number(amount) * each
}
