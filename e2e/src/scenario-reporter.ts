import Mocha from 'mocha'

interface Row {
  readonly title: string
  readonly passed: boolean
  readonly durationMs: number
}

const { EVENT_HOOK_BEGIN, EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_TEST_BEGIN, EVENT_TEST_FAIL, EVENT_TEST_PASS } =
  Mocha.Runner.constants

/** A line when a scenario begins and one when it ends; at the end the failures and a table of all. */
export class ScenarioReporter extends Mocha.reporters.Base {
  readonly #rows: Row[] = []

  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options)
    runner.on(EVENT_SUITE_BEGIN, (suite) => {
      if (suite.title !== '') console.log(`\n${suite.fullTitle()}`)
    })
    runner.on(EVENT_HOOK_BEGIN, (hook) => console.log(`  ..   ${hookTitle(hook.title)}`))
    runner.on(EVENT_TEST_BEGIN, (test) => console.log(`  ..   ${test.title}`))
    runner.on(EVENT_TEST_PASS, (test) => this.#end(test, true))
    // A failed hook arrives here too.
    runner.on(EVENT_TEST_FAIL, (test) => this.#end(test, false))
    runner.once(EVENT_RUN_END, () => this.#summarize())
  }

  #end(test: Mocha.Test, passed: boolean): void {
    const durationMs = test.duration ?? 0
    this.#rows.push({ title: test.fullTitle(), passed, durationMs })
    console.log(`  ${passed ? 'ok  ' : 'FAIL'} ${test.title} (${seconds(durationMs)})`)
  }

  #summarize(): void {
    if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures)
    const failed = this.#rows.filter((row) => !row.passed).length
    console.log('')
    for (const { title, passed, durationMs } of this.#rows) {
      console.log(`${passed ? 'ok  ' : 'FAIL'} ${seconds(durationMs).padStart(8)}  ${title}`)
    }
    console.log(`${this.#rows.length - failed} passed, ${failed} failed`)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** Mocha makes `"before all" hook: starts for "first test"` of `starts`. */
function hookTitle(title: string): string {
  return /hook: (?<name>.*) (?:for|in) "/u.exec(title)?.groups?.['name'] ?? title
}
