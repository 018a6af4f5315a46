/**
 * Control characters and marks of direction, which a label's or tag's author could use to write elsewhere on the
 * terminal of whoever reads the report.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

export function printable(text: string): string {
  return text.replace(unsafe, '�')
}

/** Widths are in characters. */
export function cut(text: string, width: number): string {
  if (text.length <= width) return text
  return width <= 1 ? text.slice(0, Math.max(0, width)) : `${text.slice(0, width - 1)}…`
}

export function fit(text: string, width: number): string {
  return cut(text, width).padEnd(width)
}
