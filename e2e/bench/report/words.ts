import type { Design, Unit } from '../row.ts'

/** `1,234 ms` */
export function quantity(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return 'never'
  const text = value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 })
  return unit === '%' || unit === 'ms' || unit === 's' || unit === 'MiB' ? `${text} ${unit}` : text
}

/** `≤ 600` */
export function designed(design: Design | undefined, unit: Unit): string {
  if (design === undefined) return '–'
  return 'atMost' in design ? `≤ ${quantity(design.atMost, unit)}` : `≥ ${quantity(design.atLeast, unit)}`
}

/** `1,000` */
export function count(value: number): string {
  return value.toLocaleString('en-US')
}
