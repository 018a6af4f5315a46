import { ArmFault } from './arm-fault.ts'
import { badContent, checkVersion, contentIn } from './tags-schema.ts'

// No package of Azure's that we have describes Resource Graph, so this is from the REST reference of the service.
const versions = ['2021-03-01', '2022-10-01', '2024-04-01']

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isWhole: Check = (value) => Number.isInteger(value)
const isListOfTexts: Check = (value) => Array.isArray(value) && value.every(isText)

const requestFields: Readonly<Record<string, Check>> = {
  subscriptions: isListOfTexts,
  managementGroups: isListOfTexts,
  query: isText,
  options: (value) => typeof value === 'object' && value !== null,
  facets: Array.isArray,
}

const optionFields: Readonly<Record<string, Check>> = {
  $skipToken: isText,
  $top: isWhole,
  $skip: isWhole,
  resultFormat: (value) => value === 'table' || value === 'objectArray',
  allowPartialScopes: (value) => typeof value === 'boolean',
  authorizationScopeFilter: isText,
}

/** Throws ArmFault for a request that is not of the form in which Resource Graph takes queries. */
export function checkGraphRequest({ query, body }: { readonly query: URLSearchParams; readonly body: string }): void {
  checkVersion(query, versions)
  const content = contentIn(body)
  if (typeof content !== 'object' || content === null) throw badContent('it is no object')
  checkFields(content, requestFields)
  if ('options' in content) checkFields(content.options as object, optionFields)
}

function checkFields(content: object, fields: Readonly<Record<string, Check>>): void {
  for (const [name, value] of Object.entries(content)) {
    const check = fields[name]
    if (check === undefined) throw new ArmFault(400, 'BadRequest', `There is no field ${name}. InvalidRequest`)
    if (!check(value)) throw new ArmFault(400, 'BadRequest', `The field ${name} has another type. InvalidRequest`)
  }
}
