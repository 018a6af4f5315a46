/** A JSON line of the programs' logs for people: `21:29:06.674 warn message field=value`. Any other line stays as it is. */
export function readableLogLine(line: string): string {
  const record = parsed(line)
  if (record === undefined) return line
  const { level, time, msg, program: _, ...fields } = record
  const clock = typeof time === 'string' ? time.slice(11, 23) : ''
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [clock, level, msg, ...shown].filter((part) => typeof part === 'string' && part !== '').join(' ')
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}
