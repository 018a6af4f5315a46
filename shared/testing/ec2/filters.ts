import type { Volume } from './volume-store.ts'
import { AwsFault, type CallParameters } from './wire.ts'

const filterValuesMax = 200

export interface Filter {
  readonly name: string
  readonly values: readonly string[]
}

/** The filters of a Describe call; values of all filters together are limited. */
export function readFilters(parameters: CallParameters): Filter[] {
  const filters = parameters.structures('Filter').map((members): Filter => {
    const name = members.get('Name')
    if (name === undefined) throw new AwsFault('MissingParameter', 'The request must contain the parameter filterName')
    const values = [...members].filter(([member]) => member.startsWith('Value.')).map(([, value]) => value)
    if (values.length === 0) throw new AwsFault('InvalidParameterValue', `The filter '${name}' has no values`)
    return { name, values }
  })
  const count = filters.reduce((sum, { values }) => sum + values.length, 0)
  if (count > filterValuesMax) {
    throw new AwsFault(
      'FilterLimitExceeded',
      `The maximum number of filter values specified on a single call is ${filterValuesMax}`,
    )
  }
  return filters
}

/** `*` stands for any characters and `?` for one; a backslash takes their meaning away. */
export function matcher(values: readonly string[]): (text: string) => boolean {
  const plain = new Set(values.filter((value) => !/[*?\\]/.test(value)))
  const patterns = values.filter((value) => !plain.has(value)).map(toPattern)
  return (text) => plain.has(text) || patterns.some((pattern) => pattern.test(text))
}

function toPattern(value: string): RegExp {
  const source = value.replaceAll(
    /\\([\s\S])|([*?])|([.+^${}()|[\]/])/g,
    (_, escaped: string, wild: string, plain: string) => {
      if (wild === '*') return '[\\s\\S]*'
      if (wild === '?') return '[\\s\\S]'
      return `\\${escaped ?? plain}`
    },
  )
  return new RegExp(`^${source}$`)
}

export type VolumeTest = (volume: Volume, tags: ReadonlyMap<string, string>) => boolean

export function volumeTest(filters: readonly Filter[]): VolumeTest {
  const tests = filters.map(oneVolumeTest)
  return (volume, tags) => tests.every((test) => test(volume, tags))
}

function oneVolumeTest({ name, values }: Filter): VolumeTest {
  const matches = matcher(values)
  if (name === 'volume-id') return (volume) => matches(volume.id)
  if (name === 'tag-key') return (_, tags) => tags.keys().some(matches)
  if (name === 'tag-value') return (_, tags) => tags.values().some(matches)
  if (name === 'operator.managed') return (volume) => matches(String(volume.managed))
  if (name.startsWith('tag:')) {
    const key = name.slice('tag:'.length)
    return (_, tags) => {
      const value = tags.get(key)
      return value !== undefined && matches(value)
    }
  }
  throw new AwsFault('InvalidParameterValue', `The filter '${name}' is invalid`)
}

/** Ids that alone can match, where a volume-id filter without wildcards says so: they are looked up instead of a walk. */
export function onlyIds(filters: readonly Filter[]): readonly string[] | undefined {
  return filters.find(({ name, values }) => name === 'volume-id' && !values.some((value) => /[*?\\]/.test(value)))
    ?.values
}

export type TagTest = (tag: { readonly id: string; readonly key: string; readonly value: string }) => boolean

export function tagTest(filters: readonly Filter[]): TagTest {
  const tests = filters.map(({ name, values }): TagTest => {
    const matches = matcher(values)
    if (name === 'resource-id') return ({ id }) => matches(id)
    if (name === 'resource-type') return () => matches('volume')
    if (name === 'key') return ({ key }) => matches(key)
    if (name === 'value') return ({ value }) => matches(value)
    if (name.startsWith('tag:')) return ({ key, value }) => key === name.slice('tag:'.length) && matches(value)
    throw new AwsFault('InvalidParameterValue', `The filter '${name}' is invalid`)
  })
  return (tag) => tests.every((test) => test(tag))
}
