import { runCommand, type CommandResult } from './commands.ts'

export interface HelmReleaseOptions {
  /** Helm 3 or 4. */
  readonly helm: string
  readonly kubeconfigPath: string
  readonly name: string
  readonly namespace: string
  readonly chart: string
  /** Values files, later ones win. */
  readonly values: readonly string[]
}

// Pods come from an image that is there already; what takes longer does not come.
const patience = ['--wait', '--timeout', '90s']

/** A chart in a cluster, as its user installs it. */
export class HelmRelease {
  readonly #options: HelmReleaseOptions

  constructor(options: HelmReleaseOptions) {
    this.#options = options
  }

  async install(...args: readonly string[]): Promise<CommandResult> {
    const { chart, name } = this.#options
    return this.#helm('install', name, chart, '--create-namespace', ...this.#values(), ...patience, ...args)
  }

  async upgrade(...args: readonly string[]): Promise<CommandResult> {
    const { chart, name } = this.#options
    return this.#helm('upgrade', name, chart, ...this.#values(), ...patience, ...args)
  }

  async rollback(revision: number): Promise<CommandResult> {
    return this.#helm('rollback', this.#options.name, String(revision), ...patience)
  }

  async uninstall(): Promise<CommandResult> {
    return this.#helm('uninstall', this.#options.name, ...patience)
  }

  #values(): readonly string[] {
    return this.#options.values.flatMap((file) => ['--values', file])
  }

  #helm(...args: readonly string[]): Promise<CommandResult> {
    const { helm, kubeconfigPath, namespace } = this.#options
    return runCommand(helm, [...args, '--namespace', namespace, '--kubeconfig', kubeconfigPath])
  }
}
