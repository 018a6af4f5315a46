import { actPlace, type Scene } from './scene.ts'
import { plainStyle } from './style.ts'
import type { View } from './view.ts'

/** A line for everything that happens, with the seconds since the start: for logs and pipes. */
export class PlainView implements View {
  readonly width = 120
  readonly style = plainStyle
  readonly #write: (text: string) => void
  readonly #elapsedMs: () => number

  constructor({ write, elapsedMs }: { readonly write: (text: string) => void; readonly elapsedMs: () => number }) {
    this.#write = write
    this.#elapsedMs = elapsedMs
  }

  show(): void {
    // There is no picture to be kept up to date.
  }

  announce(scene: Scene): void {
    this.#write(`\n${actPlace(scene)}${scene.act === '' ? '' : `: ${scene.act}`}\n`)
    this.#write(`${scene.words}\n`)
  }

  event(line: string): void {
    this.#write(`${(this.#elapsedMs() / 1000).toFixed(1).padStart(6)} s  ${line}\n`)
  }

  settle(lines: readonly string[]): void {
    this.keep(['', ...lines])
  }

  keep(lines: readonly string[]): void {
    for (const line of lines) this.#write(`${line}\n`)
  }

  close(): void {
    // Every line was written when it came.
  }
}
