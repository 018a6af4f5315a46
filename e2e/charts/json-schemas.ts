import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'

const run = promisify(execFile)

const toolsFolder = path.join(import.meta.dirname, '..', 'tools')

type Schema = Readonly<Record<string, unknown>>

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Custom resources whose definitions lie in the Go modules that `e2e/tools` pins. */
const definitionFolders = [
  { tool: 'certmanager', module: 'github.com/cert-manager/cert-manager', folder: 'deploy/crds' },
  {
    tool: 'prometheus-operator',
    module: 'github.com/prometheus-operator/prometheus-operator',
    folder: 'example/prometheus-operator-crd',
  },
]

/** How kubeconform is told of a folder of these files. */
export function schemaLocation(folder: string): string {
  return path.join(folder, '{{ .ResourceKind }}{{ .KindSuffix }}.json')
}

/** Writes a JSON schema for each kind that the chart may render. Unknown fields are refused, as by a strict API server. */
export async function writeSchemas(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const write = ({ group, version, kind }: GroupVersionKind, schema: Schema) => {
    const groupPart = group === '' ? '' : `-${group.split('.')[0]}`
    return writeFile(path.join(folder, `${kind.toLowerCase()}${groupPart}-${version}.json`), JSON.stringify(schema))
  }
  for (const [kind, schema] of await builtInKinds()) await write(kind, schema)
  for (const [kind, schema] of await customKinds()) await write(kind, schema)
}

interface Swagger {
  readonly definitions: Readonly<Record<string, Schema>>
}

const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity'

async function builtInKinds(): Promise<readonly (readonly [GroupVersionKind, Schema])[]> {
  const source = await moduleFolder('kubernetes', 'k8s.io/kubernetes')
  const swagger = JSON.parse(await readFile(path.join(source, 'api/openapi-spec/swagger.json'), 'utf8')) as Swagger
  const definitions = Object.fromEntries(
    Object.entries(swagger.definitions).map(([name, schema]) => [name, name === quantity ? {} : closed(schema)]),
  )
  return Object.entries(swagger.definitions).flatMap(([name, schema]) => {
    const kinds = (schema['x-kubernetes-group-version-kind'] ?? []) as readonly GroupVersionKind[]
    const [kind] = kinds
    if (kinds.length !== 1 || kind === undefined || kind.kind.endsWith('List')) return []
    const reached = reachable(name, definitions)
    return [[kind, { $ref: `#/definitions/${name}`, definitions: reached }] as const]
  })
}

/** The definitions that one refers to, itself included. */
function reachable(name: string, definitions: Readonly<Record<string, Schema>>): Record<string, Schema> {
  const found: Record<string, Schema> = {}
  const open = [name]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const schema = definitions[next]
    if (schema === undefined || next in found) continue
    found[next] = schema
    for (const [, referred] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/gu)) {
      if (referred !== undefined) open.push(referred)
    }
  }
  return found
}

interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

async function customKinds(): Promise<readonly (readonly [GroupVersionKind, Schema])[]> {
  const kinds: (readonly [GroupVersionKind, Schema])[] = []
  for (const { tool, module, folder } of definitionFolders) {
    const source = path.join(await moduleFolder(tool, module), folder)
    const files = (await readdir(source)).filter((file) => file.endsWith('.yaml'))
    for (const file of files) {
      const { spec } = parse(await readFile(path.join(source, file), 'utf8')) as CustomResourceDefinition
      for (const { name, schema } of spec.versions) {
        kinds.push([{ group: spec.group, version: name, kind: spec.names.kind }, closed(schema.openAPIV3Schema)])
      }
    }
  }
  return kinds
}

/** OpenAPI of Kubernetes as JSON schema: what is not named is refused, unless the type says that it keeps anything. */
function closed(schema: Schema): Schema {
  if (schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string') {
    return { type: ['integer', 'string'] }
  }
  const result: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') result[key] = mapValues(value as Readonly<Record<string, Schema>>, closed)
    else if (key === 'items' || key === 'additionalProperties') {
      result[key] = typeof value === 'object' && value !== null ? closed(value as Schema) : value
    } else if (key === 'anyOf' || key === 'allOf' || key === 'oneOf') result[key] = value
    else if (!key.startsWith('x-') && key !== 'format' && key !== 'default') result[key] = value
  }
  const keepsAnything = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isOpen = keepsAnything || 'additionalProperties' in schema || !('properties' in schema)
  return isOpen ? result : { ...result, additionalProperties: false }
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

/** Where Go keeps the source of a module; fetched where it is not there yet. */
async function moduleFolder(tool: string, module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: path.join(toolsFolder, tool) })
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir
}
