/**
 * Looks again and again until it is so, for what happens on real sockets, files and processes. Rejects after `withinMs`
 * with what was waited for, so that a test that fails says why.
 */
export async function eventually(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  withinMs = 5000,
): Promise<void> {
  const endMs = performance.now() + withinMs
  while (!(await condition())) {
    if (performance.now() > endMs)
      throw new Error(`not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
