import { randomUUID } from 'node:crypto'
import { ApiStatusError, type Subject } from './api-status.ts'

export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
}

/** The fields of an RBAC rule, so that the rules of a rendered Role can be handed in as they are. */
export interface AccessRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
  /** Set where the rule comes from a Role; without it the rule holds everywhere. */
  readonly namespace?: string
}

export interface NewUser {
  readonly name: string
  readonly groups?: readonly string[]
  /** A random one where none is given. */
  readonly token?: string
  /** Without rules the user may do everything. */
  readonly rules?: readonly AccessRule[]
}

export interface AccessAttempt {
  readonly verb: string
  readonly subject: Subject
  readonly subresource: string
  readonly namespace: string | undefined
  readonly name: string
}

/** Bearer tokens and rights. Users are added and rights are changed at any time. */
export class Users {
  readonly #byToken = new Map<string, UserInfo>()
  readonly #tokens = new Map<string, string>()
  readonly #rules = new Map<string, readonly AccessRule[]>()

  add({ name, groups, token = randomUUID(), rules }: NewUser): string {
    this.#byToken.set(token, { username: name, groups: [...(groups ?? groupsOf(name)), 'system:authenticated'] })
    this.#tokens.set(name, token)
    if (rules !== undefined) this.#rules.set(name, rules)
    return token
  }

  tokenOf(name: string): string {
    return this.#tokens.get(name) ?? this.add({ name })
  }

  /** Makes the user's token worthless: its next request gets 401. */
  revoke(name: string): void {
    const token = this.#tokens.get(name)
    if (token !== undefined) this.#byToken.delete(token)
    this.#tokens.delete(name)
  }

  /** Replaces the user's rules; undefined gives every right. */
  setRules(name: string, rules: readonly AccessRule[] | undefined): void {
    if (rules === undefined) this.#rules.delete(name)
    else this.#rules.set(name, rules)
  }

  authenticate(authorization: string | undefined): UserInfo | undefined {
    const token = /^Bearer (.+)$/i.exec(authorization ?? '')?.[1]
    return token === undefined ? undefined : this.#byToken.get(token)
  }

  /** Throws 403 in the words of the RBAC authorizer. */
  authorize(user: UserInfo, attempt: AccessAttempt): void {
    const rules = this.#rules.get(user.username)
    if (rules === undefined || rules.some((rule) => allows(rule, attempt))) return
    throw forbidden(user, attempt)
  }
}

/** A service account's groups follow from its name. */
function groupsOf(name: string): readonly string[] {
  const [system, kind, namespace] = name.split(':')
  if (system !== 'system' || kind !== 'serviceaccount') return []
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace ?? ''}`]
}

function allows(rule: AccessRule, { verb, subject, subresource, namespace, name }: AccessAttempt): boolean {
  const resource = subresource === '' ? subject.plural : `${subject.plural}/${subresource}`
  return (
    includes(rule.verbs, verb) &&
    includes(rule.apiGroups, subject.group) &&
    includes(rule.resources, resource) &&
    (rule.namespace === undefined || rule.namespace === namespace) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(name))
  )
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}

function forbidden(user: UserInfo, attempt: AccessAttempt): ApiStatusError {
  const { subject, subresource, namespace, name, verb } = attempt
  const resource = subresource === '' ? subject.plural : `${subject.plural}/${subresource}`
  const qualified = subject.group === '' ? subject.plural : `${subject.plural}.${subject.group}`
  const shown = name === '' ? qualified : `${qualified} "${name}"`
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  return new ApiStatusError(
    403,
    'Forbidden',
    `${shown} is forbidden: User "${user.username}" cannot ${verb} resource "${resource}" in API group "${subject.group}" ${scope}`,
    {
      details: {
        ...(name === '' ? {} : { name }),
        ...(subject.group === '' ? {} : { group: subject.group }),
        kind: subject.plural,
      },
    },
  )
}
