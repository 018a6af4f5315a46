import { stripVTControlCharacters } from 'node:util'
import { type Scene, sceneLines } from './scene.ts'
import { colourStyle } from './style.ts'
import type { View } from './view.ts'

/** The few things that the view needs of `process.stdout`. */
export interface Terminal {
  readonly columns: number
  readonly rows: number
  write(text: string): unknown
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

const escape = '\u001B['
const hideCursor = `${escape}?25l`
const showCursor = `${escape}?25h`
// Terminals that know it show what lies between the two at once; the others ignore both.
const beginUpdate = `${escape}?2026h`
const endUpdate = `${escape}?2026l`
const clearToEndOfLine = `${escape}K`
const clearBelow = `${escape}J`

const redrawEveryMs = 100

/** For a terminal that tells no size, or one of zero. */
const usual = { columns: 80, rows: 24 }

/**
 * Kept lines go up into the terminal's history, and below them lives one scene that is drawn over in place. A frame is
 * one write, lines are overwritten and not blanked first, and an unchanged frame is not written: nothing flickers.
 */
export class TerminalView implements View {
  readonly style = colourStyle
  readonly #terminal: Terminal
  readonly #timer: NodeJS.Timeout
  readonly #resized = () => this.#redraw()
  #scene: Scene | undefined
  /** The lines of the scene on the screen. */
  #shown: readonly string[] = []
  #closed = false

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    terminal.write(hideCursor)
    terminal.on('resize', this.#resized)
    this.#timer = setInterval(() => this.#draw(), redrawEveryMs)
  }

  get width(): number {
    // Nothing reaches the last column, where terminals differ on what follows.
    return Math.max(40, this.#columns - 1)
  }

  get #columns(): number {
    return this.#terminal.columns || usual.columns
  }

  show(scene: Scene): void {
    this.#scene = scene
  }

  announce(scene: Scene): void {
    this.#scene = scene
    this.#draw()
  }

  settle(lines: readonly string[]): void {
    this.#scene = undefined
    this.keep(['', ...lines])
  }

  event(): void {
    // The table shows it.
  }

  keep(lines: readonly string[]): void {
    this.#paint(lines)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#timer)
    this.#terminal.off('resize', this.#resized)
    this.#terminal.write(showCursor)
  }

  #lines(): readonly string[] {
    if (this.#scene === undefined) return []
    const rows = this.#terminal.rows || usual.rows
    return sceneLines(this.#scene, { width: this.width, height: Math.max(8, rows - 1), style: this.style })
  }

  #draw(): void {
    const lines = this.#lines()
    if (lines.length === this.#shown.length && lines.every((line, index) => line === this.#shown[index])) return
    this.#paint([], lines)
  }

  #redraw(): void {
    this.#paint([])
  }

  #paint(kept: readonly string[], lines = this.#lines()): void {
    const text = [...kept, ...lines].map((line) => `${line}${clearToEndOfLine}\n`).join('')
    this.#terminal.write(`${beginUpdate}${this.#up()}${text}${clearBelow}${endUpdate}`)
    this.#shown = lines
  }

  /** To the first line of the scene; a terminal that has become narrower since has broken lines in two. */
  #up(): string {
    const columns = this.#columns
    const rows = this.#shown.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns)),
      0,
    )
    return rows === 0 ? '' : `${escape}${rows}A\r`
  }
}
