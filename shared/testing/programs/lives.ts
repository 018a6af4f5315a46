import { expect } from 'chai'
import { intentLifetimeMs, intentTiming } from '../../src/tagger/intent-timing.ts'
import { eventually } from './eventually.ts'
import { Installation } from './installation.ts'
import { killAt } from './kill-at.ts'
import type { Death } from './kill-at.ts'
import type { RunningProgram } from './running-program.ts'

const callTimeoutMs = 1000
/** A late call of a dead process can land until its intent expires: only then its record can be closed. */
const recordOpenMs = intentLifetimeMs(intentTiming(callTimeoutMs))

/** What is on each disk before us. */
const tagsBefore = { foreign: 'keep', env: 'finance' }
/** What its claim is labelled with as the program dies; the first of them goes before the program is there again. */
const labels = { team: 'core', env: 'prod' }
/** What the disk must have then, with whatever comes later. */
export const tagsAfter = { foreign: 'keep', env: 'prod' }

/** One program in its cluster that dies once at each step, each time with another claim in hand. */
export class Lives {
  readonly deaths: readonly Death[]
  readonly #config: object
  readonly #beside: (installation: Installation) => Promise<unknown>
  readonly #start: (installation: Installation) => Promise<RunningProgram>
  readonly #afterwards: (installation: Installation, claim: string) => Promise<Readonly<Record<string, string>>>
  readonly #ends: readonly PromiseWithResolvers<void>[]
  readonly #volumes: string[] = []
  #installation: Installation | undefined

  constructor(options: {
    readonly deaths: readonly Death[]
    readonly config: object
    /** Started once, and left alone. */
    readonly beside: (installation: Installation) => Promise<unknown>
    /** Starts the program, also again. */
    readonly start: (installation: Installation) => Promise<RunningProgram>
    /** What happens once it is there again, and the tags that the disk has in the end. */
    readonly afterwards: (installation: Installation, claim: string) => Promise<Readonly<Record<string, string>>>
  }) {
    this.deaths = options.deaths
    this.#config = options.config
    this.#beside = options.beside
    this.#start = options.start
    this.#afterwards = options.afterwards
    this.#ends = options.deaths.map(() => Promise.withResolvers<void>())
    for (const { promise } of this.#ends) promise.catch(() => undefined)
  }

  /** Resolves when the program has died and gone on rightly after this death. */
  end(death: Death): Promise<void> {
    return this.#ends[this.deaths.indexOf(death)]?.promise ?? Promise.reject(new Error('it never dies like this'))
  }

  /** Goes on with the tests until the last death. */
  begin(): void {
    this.#live().catch((error: unknown) => {
      for (const { reject } of this.#ends) reject(error)
    })
  }

  async everyRecordIsClosed(settled: Readonly<Record<string, { value: string; before: boolean }>>): Promise<void> {
    const recordOf = (volume: string) => this.#installation?.recordOf(volume)
    for (const volume of this.#volumes) {
      const problem = () => `the record of ${volume} is still open: ${JSON.stringify(recordOf(volume))}`
      await eventually(problem, () => recordOf(volume)?.intent === undefined, recordOpenMs + 10_000)
      expect(Object.fromEntries(recordOf(volume)?.settled ?? [])).to.deep.equal(settled)
    }
  }

  async stop(): Promise<void> {
    await this.#installation?.stop()
  }

  async #live(): Promise<void> {
    const installation = await Installation.start({
      config: { aws: { callTimeout: `${callTimeoutMs}ms` }, ...this.#config },
    })
    this.#installation = installation
    await installation.kubernetes.createNamespace('db')
    let program = await this.#start(installation)
    await this.#beside(installation)
    for (const [i, death] of this.deaths.entries()) {
      const name = `data-${i}`
      const { disk, volume } = installation.boundClaim({ namespace: 'db', name }, tagsBefore)
      this.#volumes.push(volume)
      const killed = killAt(installation, program, death)
      await installation.kubernetes.setLabels('db', name, labels)
      await killed
      await installation.kubernetes.removeLabel('db', name, 'team')
      program = await this.#start(installation)
      await installation.untilTagged(disk, await this.#afterwards(installation, name))
      this.#ends[i]?.resolve()
    }
  }
}
