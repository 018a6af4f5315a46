export interface VirtualListOptions {
  readonly viewport: HTMLElement
  /** As high as all rows together; rows are placed in it. */
  readonly canvas: HTMLElement
  readonly rowHeightPx: number
  readonly makeRow: (position: number) => HTMLElement
}

/** Rows beyond either edge, so that a quick scroll shows no gap. */
const overscan = 12

/** Has only those rows in the document that can be seen: a hundred thousand cost no more than fifty. */
export class VirtualList {
  readonly #options: VirtualListOptions
  #count = 0
  #shown = { first: 0, end: 0 }

  constructor(options: VirtualListOptions) {
    this.#options = options
    options.viewport.addEventListener('scroll', () => this.#update(), { passive: true })
    new ResizeObserver(() => this.#update()).observe(options.viewport)
  }

  /** Other rows from now on. */
  show(count: number): void {
    const { viewport, canvas, rowHeightPx } = this.#options
    this.#count = count
    canvas.style.height = `${count * rowHeightPx}px`
    viewport.scrollTop = 0
    this.#render(this.#range())
  }

  #update(): void {
    const range = this.#range()
    if (range.first !== this.#shown.first || range.end !== this.#shown.end) this.#render(range)
  }

  #range(): { readonly first: number; readonly end: number } {
    const { viewport, rowHeightPx } = this.#options
    // In steps, so that most scroll events change nothing.
    const top = Math.floor(viewport.scrollTop / rowHeightPx / overscan) * overscan
    const visible = Math.ceil(viewport.clientHeight / rowHeightPx)
    return { first: Math.max(0, top - overscan), end: Math.min(this.#count, top + visible + 2 * overscan) }
  }

  #render({ first, end }: { readonly first: number; readonly end: number }): void {
    const { canvas, rowHeightPx, makeRow } = this.#options
    const focused = canvas.querySelector(':focus')?.closest('[data-position]')?.getAttribute('data-position')
    const rows: HTMLElement[] = []
    for (let position = first; position < end; position++) {
      const row = makeRow(position)
      row.style.transform = `translateY(${position * rowHeightPx}px)`
      row.dataset['position'] = String(position)
      rows.push(row)
    }
    canvas.replaceChildren(...rows)
    this.#shown = { first, end }
    if (focused === undefined || focused === null) return
    canvas.querySelector<HTMLElement>(`[data-position="${focused}"] button`)?.focus({ preventScroll: true })
  }
}
