import type { ClaimEntry } from '../ledger/claim-entry.ts'
import { claimTable } from './claim-table.ts'
import type { Style } from './style.ts'
import { cut, wrap } from './text.ts'

/** What is going on now: all that the live part of the screen is made of. */
export interface Scene {
  readonly act: string
  /** From 1; one more than there are after the last. */
  readonly actNumber: number
  readonly actCount: number
  /** What is about to happen, in a sentence or two. */
  readonly words: string
  readonly elapsedMs: number
  readonly entries: readonly ClaimEntry[]
  /** One line on the calls to the cloud so far. */
  readonly calls: string
}

export interface SceneRoom {
  readonly width: number
  readonly height: number
  readonly style: Style
}

const wordLines = 2
const barWidthMax = 40

/** The lines of the live part. Their number changes only with the number of claims, so that nothing jumps. */
export function sceneLines(scene: Scene, { width, height, style }: SceneRoom): readonly string[] {
  const words = wrap(scene.words, width)
  const shownWords = [...words.slice(0, wordLines), ...Array<string>(Math.max(0, wordLines - words.length)).fill('')]
  const above = ['', progress(scene, width, style), ...shownWords, '']
  const below = ['', style.dim(cut(scene.calls, width))]
  const table = claimTable(scene.entries, { width, linesMax: Math.max(2, height - above.length - below.length), style })
  return [...above, ...table, ...below]
}

export function actPlace({ actNumber, actCount }: Pick<Scene, 'actNumber' | 'actCount'>): string {
  return actNumber > actCount ? `All ${actCount} acts played` : `Act ${actNumber} of ${actCount}`
}

function progress({ act, actNumber, actCount, elapsedMs }: Scene, width: number, style: Style): string {
  const place = actPlace({ actNumber, actCount })
  const time = `${Math.floor(elapsedMs / 1000)} s`.padStart(5)
  const barWidth = Math.min(barWidthMax, Math.max(10, width - place.length - time.length - 40))
  const done = Math.round((barWidth * Math.max(0, actNumber - 1)) / actCount)
  const bar = style.good('━'.repeat(done)) + style.dim('─'.repeat(barWidth - done))
  const titleWidth = Math.max(0, width - place.length - time.length - barWidth - 5)
  const title = act === '' ? '' : `  ${style.bold(cut(act, titleWidth))}`
  return `${place} ${bar}${time}${title}`
}
