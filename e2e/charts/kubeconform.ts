import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { schemaLocation } from './json-schemas.ts'

const run = promisify(execFile)

interface Report {
  readonly resources: readonly {
    readonly filename: string
    readonly kind: string
    readonly name: string
    readonly status: string
    readonly msg: string
  }[]
}

/** One sentence for each object that the schemas refuse or do not know. */
export async function faultsOf(
  binary: string,
  { files, schemas }: { readonly files: readonly string[]; readonly schemas: readonly string[] },
): Promise<readonly string[]> {
  const locations = schemas.flatMap((folder) => ['-schema-location', schemaLocation(folder)])
  const args = ['-strict', '-output', 'json', ...locations, ...files]
  const { resources } = JSON.parse(await output(binary, args)) as Report
  return resources.map(({ filename, kind, name, status, msg }) => `${filename}: ${kind} ${name}: ${status}: ${msg}`)
}

/** Faults are in the output; the exit code says no more. */
async function output(binary: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(binary, args, { maxBuffer: 16 * 1024 * 1024 })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string }
    if (stdout === undefined || stdout === '') throw new Error(`kubeconform: ${stderr ?? ''}`, { cause: error })
    return stdout
  }
}
