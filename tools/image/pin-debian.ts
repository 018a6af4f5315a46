import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { pinsFile, readPins, type DebianPackage } from './debian.ts'
import { architectures, type Architecture } from './oci.ts'

const run = promisify(execFile)

/** Asks apt, with a state of its own, for the newest version of each pinned package, and writes the pins anew. */
export async function pinDebianPackages(): Promise<void> {
  const pins = await readPins()
  const packages: Partial<Record<Architecture, readonly DebianPackage[]>> = {}
  for (const architecture of architectures) {
    const names = pins.packages[architecture].map(({ name }) => name)
    packages[architecture] = await newest(names, { architecture, suite: pins.suite })
  }
  await writeFile(pinsFile, `${JSON.stringify({ ...pins, packages }, null, 2)}\n`)
}

async function newest(
  names: readonly string[],
  { architecture, suite }: { readonly architecture: Architecture; readonly suite: string },
): Promise<readonly DebianPackage[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'k8s-cloud-tagger-apt-'))
  try {
    const options = await aptOptions(folder, { architecture, suite })
    await run('apt-get', [...options, 'update'])
    return await Promise.all(
      names.map(async (name) => {
        const { stdout } = await run('apt-cache', [...options, 'show', '--no-all-versions', name])
        return {
          name,
          version: field(stdout, 'Version'),
          file: field(stdout, 'Filename'),
          sha256: field(stdout, 'SHA256'),
        }
      }),
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function aptOptions(
  folder: string,
  { architecture, suite }: { readonly architecture: Architecture; readonly suite: string },
): Promise<readonly string[]> {
  for (const name of ['lists/partial', 'cache/archives/partial'])
    await mkdir(path.join(folder, name), { recursive: true })
  const from = (archive: string, name: string) =>
    `deb [arch=${architecture}] http://deb.debian.org/${archive} ${name} main\n`
  const sources = path.join(folder, 'sources.list')
  await writeFile(sources, from('debian', suite) + from('debian-security', `${suite}-security`))
  await writeFile(path.join(folder, 'status'), '')
  const settings = {
    'Dir::State::Lists': path.join(folder, 'lists'),
    'Dir::State::status': path.join(folder, 'status'),
    'Dir::Cache': path.join(folder, 'cache'),
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Acquire::Languages': 'none',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}

function field(paragraph: string, name: string): string {
  const value = new RegExp(`^${name}: (?<value>.+)$`, 'mu').exec(paragraph)?.groups?.['value']
  if (value === undefined) throw new Error(`apt-cache shows no ${name}`)
  return value
}
