import type { Coverage } from '../summary.ts'

/** Drawn by attributes, since the page's policy allows no styles in elements. */
export function barOf({ covered, all }: Coverage): string {
  const width = all === 0 ? 0 : Math.floor((covered / all) * 1000) / 10
  return `<svg class="bar" aria-hidden="true"><rect width="${width}%" height="100%"/></svg>`
}
