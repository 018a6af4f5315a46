/** Widths are in characters: what the demo shows is made of Kubernetes names, labels and numbers. */
export function cut(text: string, width: number): string {
  if (text.length <= width) return text
  return width <= 0 ? '' : `${text.slice(0, width - 1)}…`
}

/** Keeps both ends, for names whose end tells them apart. */
export function cutMiddle(text: string, width: number): string {
  if (text.length <= width) return text
  if (width < 5) return cut(text, width)
  const tail = Math.floor((width - 1) / 2)
  return `${text.slice(0, width - 1 - tail)}…${text.slice(-tail)}`
}

/** Exactly `width` characters. */
export function fit(text: string, width: number): string {
  return cut(text, width).padEnd(width)
}

/** At spaces; a word that is longer than a line is cut. At least one line. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? cut(word, width) : `${line} ${word}`
  }
  return [...lines, line]
}

/** As many items as there is room for, and how many were left out: `app=orders team=core +2`. */
export function listWithin(items: readonly string[], width: number): string {
  for (let count = items.length; count > 0; count--) {
    const rest = items.length - count
    const text = items.slice(0, count).join(' ') + (rest === 0 ? '' : ` +${rest}`)
    if (text.length <= width) return text
  }
  return cut(items.join(' '), width)
}

/** `118 ms`, `7.4 s`, `1 m 05 s`. */
export function shownMs(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} m ${String(seconds % 60).padStart(2, '0')} s`
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}
