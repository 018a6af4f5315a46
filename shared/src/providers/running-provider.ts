import type { BucketStatus } from './account-budget.ts'
import type { DiskProvider, Lane } from './provider.ts'

/** How one account scope stands, for metrics. */
export interface ScopeStatus {
  readonly scope: string
  /** True while an operation is let through for a probe only, since it was denied for several disks. */
  readonly slow: boolean
  /** 0 where the cloud has asked for no pause. */
  readonly pausedForMs: number
  readonly budgets: readonly BucketStatus[]
  /** Reads and writes of single disks that wait for their turn. */
  readonly waiting: Readonly<Record<Lane, number>>
  /** Batches that have left and have not ended. */
  readonly underWay: number
}

/** How many jobs are upstream and may still ask for something; at 0 a batch does not wait for more. */
export interface ExpectedCompany {
  readsToCome(lane: Lane): number
  writesToCome(lane: Lane): number
}

/** A provider with a life: what its owner calls, and its users do not. */
export interface RunningProvider extends DiskProvider {
  /** To be called when fewer jobs are upstream than before: a batch that waits for company may leave. */
  poke(): void
  /** True while an operation in this scope is let through for a probe only; no intent needs to be opened then. */
  isSlow(scope: string): boolean
  status(): readonly ScopeStatus[]
  /** What was not sent is given up with 'unavailable'; resolves when what was sent has ended. */
  stop(): Promise<void>
}
