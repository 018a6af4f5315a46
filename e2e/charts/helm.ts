import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { requiredVersion } from '../src/binaries.ts'
import type { KubeObject } from '../src/kube-objects.ts'

const run = promisify(execFile)

export const chartFolder = path.join(import.meta.dirname, '..', '..', 'charts', 'k8s-cloud-tagger')

/** A template of 800 lines makes some 40 KiB; a dashboard makes as much again. */
const outputMaxBytes = 16 * 1024 * 1024

export interface RenderOptions {
  readonly values?: readonly string[]
  /** As `--set` takes them. */
  readonly set?: readonly string[]
  readonly release?: string
  readonly namespace?: string
}

/** What Helm answered with exit code 1. */
export class HelmError extends Error {
  override readonly name = 'HelmError'
}

/** One Helm, told which Kubernetes to render for: one that was built from its module knows none by itself. */
export class Helm {
  readonly name: string
  readonly #binary: string
  readonly #kubeVersion: string

  private constructor(name: string, binary: string, kubeVersion: string) {
    this.name = name
    this.#binary = binary
    this.#kubeVersion = kubeVersion
  }

  static async create(name: string, binary: string): Promise<Helm> {
    return new Helm(name, binary, await requiredVersion('kubernetes', 'k8s.io/kubernetes'))
  }

  /** Rejects with HelmError where values or templates refuse. */
  async render(options: RenderOptions = {}): Promise<string> {
    const { release = 'tagger', namespace = 'tagging' } = options
    return this.#run(['template', release, chartFolder, '--namespace', namespace, ...this.#common(options)])
  }

  async lint(options: RenderOptions = {}): Promise<void> {
    await this.#run(['lint', chartFolder, '--strict', '--quiet', ...this.#common(options)])
  }

  async version(): Promise<string> {
    return (await this.#run(['version', '--short'])).trim()
  }

  #common({ values = [], set = [] }: RenderOptions): readonly string[] {
    const files = values.flatMap((file) => ['--values', file])
    return ['--kube-version', this.#kubeVersion, ...files, ...set.flatMap((each) => ['--set', each])]
  }

  async #run(args: readonly string[]): Promise<string> {
    try {
      const { stdout } = await run(this.#binary, args, { maxBuffer: outputMaxBytes })
      return stdout
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
      throw new HelmError(`${this.name} ${args[0]}: ${stderr}${stdout}`, { cause: error })
    }
  }
}

export type RenderedObject = KubeObject & Readonly<Record<string, unknown>>

/** The objects of a render. Throws where YAML is broken or says a key twice. */
export function objectsOf(rendered: string): readonly RenderedObject[] {
  return parseAllDocuments(rendered, { uniqueKeys: true }).flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    const object = document.toJS() as RenderedObject | null
    return object === null ? [] : [object]
  })
}
