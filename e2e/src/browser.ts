import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ManagedProcess } from './managed-process.ts'

const run = promisify(execFile)
const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Chromium's command on this machine; where there is none and this is Debian's root, the distribution's is installed. */
export async function ensureBrowser(report: (line: string) => void = () => {}): Promise<string> {
  const found = await findBrowser()
  if (found !== undefined) return found
  report('installing chromium ...')
  await run('apt-get', ['update', '-qq'])
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium', 'fonts-dejavu-core'])
  const installed = await findBrowser()
  if (installed === undefined) throw new Error('chromium was installed and cannot be found')
  return installed
}

export async function findBrowser(): Promise<string | undefined> {
  for (const name of names) {
    try {
      await run(name, ['--version'])
      return name
    } catch {
      // The next one.
    }
  }
  return undefined
}

interface CdpMessage {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

/** One page in a headless browser, driven by the DevTools protocol; knows everything that went to its console. */
export class BrowserPage {
  /** Warnings and errors of the console, exceptions, and what the page's own policy refused. */
  readonly complaints: string[] = []
  /** Addresses that the page asked for, its own left out. */
  readonly requests: string[] = []
  readonly #process: ManagedProcess
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>()
  #lastId = 0

  /** Starts the browser with a profile of its own in `dir`. */
  static async open(dir: string, size = { width: 1440, height: 1360 }): Promise<BrowserPage> {
    const profile = path.join(dir, 'profile')
    await mkdir(profile, { recursive: true })
    const flags = ['--headless', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0']
    // As root there is no sandbox; the page is one that we wrote.
    if (process.getuid?.() === 0) flags.push('--no-sandbox')
    const browser = await ManagedProcess.start({
      name: 'chromium',
      command: await ensureBrowser(),
      args: [...flags, `--user-data-dir=${profile}`, `--window-size=${size.width},${size.height}`, 'about:blank'],
      logFile: path.join(dir, 'chromium.log'),
    })
    try {
      const port = await portOf(profile, browser)
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly {
        readonly type: string
        readonly webSocketDebuggerUrl: string
      }[]
      const target = targets.find(({ type }) => type === 'page')
      if (target === undefined) throw new Error('the browser shows no page')
      const socket = new WebSocket(target.webSocketDebuggerUrl)
      await new Promise<void>((resolve, reject) => {
        socket.addEventListener('open', () => resolve())
        socket.addEventListener('error', () => reject(new Error('no connection to the browser')))
      })
      const page = new BrowserPage(browser, socket)
      for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.#send(`${domain}.enable`)
      return page
    } catch (error) {
      await browser.kill()
      throw error
    }
  }

  private constructor(browser: ManagedProcess, socket: WebSocket) {
    this.#process = browser
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as CdpMessage))
  }

  /** Resolves when the page says that it is ready, to how many milliseconds that took. */
  async load(file: string): Promise<number> {
    const startMs = performance.now()
    await this.#send('Page.navigate', { url: `file://${file}` })
    await this.until("document.documentElement?.dataset.ready === 'true'")
    return performance.now() - startMs
  }

  /** The value of an expression in the page; a promise is awaited. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.#send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    const failure = answer['exceptionDetails'] as { readonly exception?: { readonly description?: string } } | undefined
    if (failure !== undefined) throw new Error(`in the page: ${failure.exception?.description ?? expression}`)
    return (answer['result'] as { readonly value: T }).value
  }

  async until(condition: string, withinMs = 15_000): Promise<void> {
    const endMs = performance.now() + withinMs
    while (!(await this.evaluate<boolean>(condition))) {
      if (performance.now() > endMs)
        throw new Error(`not within ${withinMs} ms: ${condition}\n${this.complaints.join('\n')}`)
      await sleep(10)
    }
  }

  async darkMode(isDark: boolean): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }]
    await this.#send('Emulation.setEmulatedMedia', { features })
  }

  /** A PNG of what the window shows. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' })
    return Buffer.from(String(data), 'base64')
  }

  async close(): Promise<void> {
    this.#socket.close()
    await this.#process.kill()
  }

  #send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#lastId
    const answer = Promise.withResolvers<Readonly<Record<string, unknown>>>()
    this.#waiting.set(id, answer)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return answer.promise
  }

  #take({ id, method, params = {}, result, error }: CdpMessage): void {
    if (id !== undefined) {
      const answer = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) answer?.resolve(result ?? {})
      else answer?.reject(new Error(`the browser: ${error.message}`))
    }
    if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded')
      this.complaints.push(JSON.stringify(params))
    if (method === 'Runtime.consoleAPICalled' && params['type'] !== 'log') this.complaints.push(JSON.stringify(params))
    if (method === 'Network.requestWillBeSent') {
      this.requests.push((params['request'] as { readonly url: string }).url)
    }
  }
}

async function portOf(profile: string, browser: ManagedProcess): Promise<number> {
  for (let tries = 0; tries < 300; tries++) {
    const port = readPort(profile)
    if (port !== undefined) return port
    if (!browser.running) break
    await sleep(50)
  }
  throw new Error(browser.describe())
}

function readPort(profile: string): number | undefined {
  try {
    const port = Number(readFileSync(path.join(profile, 'DevToolsActivePort'), 'utf8').split('\n')[0])
    return port > 0 ? port : undefined
  } catch {
    return undefined
  }
}
