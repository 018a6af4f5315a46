import { parseArgs } from 'node:util'

export const usage = `Shows k8s-cloud-tagger at work, without a cluster and without a cloud.

  make demo                    a play of some acts, about 40 seconds
  make demo MANIFESTS=folder   your own claims and volumes instead

  node e2e/demo/main.ts [--manifests folder] [--help]

  --manifests folder   PersistentVolumeClaims, PersistentVolumes, Namespaces, StorageClasses and StatefulSets
                       (*.yaml, *.yml, *.json, also below it); other kinds are left out

A terminal gets a live table; where there is none, or with NO_COLOR or CI set, every event is a line.
Exit code 0 when every disk ended right, 1 when one did not, 2 when the arguments or manifests are wrong, 130 after
Ctrl-C. Nothing is left behind in any case.`

export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly problem: string }
  | { readonly kind: 'play' }
  | { readonly kind: 'own-manifests'; readonly folder: string }

export function readArguments(args: readonly string[]): Request {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { manifests: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
    })
    if (values.help) return { kind: 'help' }
    if (values.manifests === undefined) return { kind: 'play' }
    if (values.manifests === '') return { kind: 'wrong', problem: '--manifests needs the path of a folder' }
    return { kind: 'own-manifests', folder: values.manifests }
  } catch (error) {
    return { kind: 'wrong', problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Whether a picture that is drawn over in place can be shown. */
export function wantsTerminalView(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const isSet = (name: string) => (env[name] ?? '') !== ''
  return isTerminal && !isSet('NO_COLOR') && !isSet('CI') && env['TERM'] !== 'dumb'
}
