/** Arguments, config or files that are not what they should be: the program says so and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
