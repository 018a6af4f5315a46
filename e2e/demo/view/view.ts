import type { Scene } from './scene.ts'
import type { Style } from './style.ts'

/** Where the demo shows itself: a terminal, or lines for whatever reads them. */
export interface View {
  readonly width: number
  readonly style: Style
  /** What is going on now. May be called often. */
  show(scene: Scene): void
  /** An act is about to begin. */
  announce(scene: Scene): void
  /** One thing that happened. */
  event(line: string): void
  /** Puts lines that stay in the place of everything that moved. */
  settle(lines: readonly string[]): void
  /** Lines that stay. */
  keep(lines: readonly string[]): void
  /** Leaves the terminal as it was found; what was shown stays. May be called twice. */
  close(): void
}
