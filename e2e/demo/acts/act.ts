import type { ClaimLedger } from '../ledger/claim-ledger.ts'
import type { World } from '../world/world.ts'
import type { ExpectedDisks } from './expected-disks.ts'

/** What an act plays with. */
export interface Stage {
  readonly world: World
  readonly ledger: ClaimLedger
  readonly expected: ExpectedDisks
}

export interface Act {
  /** A short sentence, without its full stop. */
  readonly title: string
  /** Told before it begins: what is about to happen, and who should do what about it. */
  readonly words: string
  /** What has to be true at its end, for the summary. */
  readonly expectation: string
  /** Whose log is of interest where it is not. */
  readonly concerns: readonly ('webhook' | 'reconciler')[]
  /** How long all may take until it is true. */
  readonly withinMs: number
  /** Lets it happen; and says what is expected now. */
  play(stage: Stage): Promise<void>
  /** A sentence for each thing that is not as it should be, beside the disks, which are compared after every act. */
  problems?(stage: Stage): Promise<readonly string[]> | readonly string[]
  /** How it went, in a few words: by whom, and how long it took. */
  outcome(stage: Stage): string
}
