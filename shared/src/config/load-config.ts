import { Ajv } from 'ajv'
import type { ErrorObject } from 'ajv'
import { parseDocument } from 'yaml'
import type { Document } from 'yaml'
import { durationPattern } from '../runtime/duration.ts'
import type { Config } from './config.ts'
import { configSchema } from './config-schema.ts'
import { compileDefaultLabels } from './default-labels.ts'
import { compileRules } from '../tags/tag-rules.ts'

/** Every problem of a config at once, each as `path: value, what is allowed`. The program prints them and exits with 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const validate = new Ajv({ allErrors: true, useDefaults: true, strict: true, verbose: true }).compile<Config>(
  configSchema,
)

/** Reads a config from its text. Throws ConfigError. */
export function parseConfig(text: string): Config {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true })
  if (document.errors.length > 0) throw new ConfigError(document.errors.map(({ message }) => firstLine(message)))
  const config = valueOf(document) ?? {}
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new ConfigError(['the file: must be a map of keys, such as `cloudProvider: aws`'])
  }
  dropEmptyKeys(config as Record<string, unknown>, configSchema)
  lowerCaseProvider(config as Record<string, unknown>)
  if (!validate(config)) throw new ConfigError(oneForEachMistake(validate.errors ?? []).map(problemOf))
  const problems = crossFieldProblems(config)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function valueOf(document: Document): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // An alias without its anchor, or so many of them that they would fill the memory.
    throw new ConfigError([firstLine(error instanceof Error ? error.message : String(error))])
  }
}

/** `aws:` with nothing behind it is null in YAML, and means its defaults to whoever wrote it. Not so an entry of a map. */
function dropEmptyKeys(group: Record<string, unknown>, schema: GroupSchema): void {
  for (const [key, value] of Object.entries(group)) {
    const child = schema.properties?.[key]
    if (value === null && child !== undefined) delete group[key]
    else if (child?.properties !== undefined && typeof value === 'object' && !Array.isArray(value)) {
      dropEmptyKeys(value as Record<string, unknown>, child)
    }
  }
}

interface GroupSchema {
  readonly type: string
  readonly properties?: Readonly<Record<string, GroupSchema>>
}

/** What is none of the allowed words need not be told that it is no text either. */
function oneForEachMistake(errors: readonly ErrorObject[]): ErrorObject[] {
  const named = new Set(errors.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath))
  return errors.filter(({ keyword, instancePath }) => keyword !== 'type' || !named.has(instancePath))
}

function lowerCaseProvider(config: Record<string, unknown>): void {
  const provider = config['cloudProvider']
  if (typeof provider === 'string') config['cloudProvider'] = provider.toLowerCase()
}

function crossFieldProblems(config: Config): string[] {
  const problems: string[] = []
  if (!config.webhook.enabled && !config.reconciler.enabled) {
    problems.push('reconciler.enabled: false, at least one of webhook.enabled and reconciler.enabled must be true')
  }
  if (config.webhook.enabled && config.http.port === config.webhook.port) {
    problems.push(`webhook.port: ${config.webhook.port}, must differ from http.port`)
  }
  for (const compiled of [compileRules(config), compileDefaultLabels(config.admission.defaultLabels)]) {
    if (!compiled.ok) problems.push(...compiled.problems)
  }
  return problems
}

function problemOf(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.')
  if (error.keyword === 'additionalProperties') {
    const unknown = String(error.params['additionalProperty'])
    const known = Object.keys((error.parentSchema?.['properties'] as object | undefined) ?? {})
    const where = path === '' ? unknown : `${path}.${unknown}`
    const value = (error.data as Record<string, unknown>)[unknown]
    return `${where}: ${shown(value)}, is no key of ours; allowed here: ${known.join(', ')}`
  }
  return `${path}: ${shown(error.data)}, ${allowed(error)}`
}

function allowed(error: ErrorObject): string {
  if (error.keyword === 'enum') return `must be one of ${(error.params['allowedValues'] as unknown[]).join(', ')}`
  if (error.keyword === 'pattern' && error.params['pattern'] === durationPattern) {
    return 'must be a whole number and a unit, such as 30s, 5m or 1h'
  }
  if (error.keyword === 'type' && error.params['type'] === 'string') return 'must be text: write it in quotes'
  return error.message ?? 'is not allowed'
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message
}
