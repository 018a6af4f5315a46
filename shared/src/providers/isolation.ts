import { ProviderError, asProviderError } from './provider-error.ts'

/** What a cloud's own error codes say beyond their kind. */
export interface RefusalCodes {
  /** True where the error is about what is written and not about the disk, so that every disk would answer the same. */
  isAboutTags(error: ProviderError): boolean
  /** True for a clear refusal with a code that no table knows: nobody can say whom it concerns. */
  isUnexplained(error: ProviderError): boolean
}

export interface IsolationPort<Member> {
  /** One call for all of these; settles its members itself when it succeeds, and throws ProviderError. */
  readonly send: (members: readonly Member[]) => Promise<void>
  readonly fail: (member: Member, error: ProviderError) => void
  /** Which members the error names as its cause. */
  readonly named: (error: ProviderError, members: readonly Member[]) => ReadonlySet<Member>
  readonly codes: RefusalCodes
  /** Waits for the right to make one more call; resolves to why not where there is none. */
  readonly oneMore: () => Promise<ProviderError | undefined>
  /** This member was refused alone, or by name. */
  readonly refusedSingly: (member: Member, error: ProviderError) => void
}

/** So many disks must refuse the same tags, and none take them, before the tags are to blame. */
const refusalsThatBlameTags = 3

/**
 * Sends a batch, and where the cloud refuses it as a whole for the sake of single members, finds those: by the names in
 * the message, else by halving. So a refusal reaches a disk only when that disk was refused alone or by name; the others
 * are written. Depth first, one call after the other: where everything is denied, two single answers come early and
 * `oneMore` can stop the rest.
 *
 * The calls are bounded (16 + 4 log2 n beyond the first): what could not be told apart by then ends as 'unavailable'
 * and comes again in other company.
 */
export async function sendIsolating<Member>(members: readonly Member[], port: IsolationPort<Member>): Promise<void> {
  const pending: (readonly Member[])[] = []
  const giveUpPending = (error: ProviderError) => {
    for (const member of pending.splice(0).flat()) port.fail(member, error)
  }
  const furtherCalls = 16 + 4 * Math.ceil(Math.log2(Math.max(1, members.length)))
  const blame = new TagBlame(port.codes)

  let group: readonly Member[] | undefined = members
  for (let calls = 0; group !== undefined; calls++, group = pending.pop()) {
    const error = await attempt(group, port)
    blame.note(group.length, error)
    if (error !== undefined) {
      pending.push(...leftAfter(group, error, port))
      if (error.kind === 'throttled' || blame.isCertain) giveUpPending(error)
    }
    if (pending.length === 0) return
    const refusal = calls < furtherCalls ? await port.oneMore() : notToldApart(error)
    if (refusal !== undefined) giveUpPending(refusal)
  }
}

/** Whether the tags themselves are to blame: several disks refused them singly, and none took them. */
class TagBlame {
  readonly #codes: RefusalCodes
  #refusals = 0

  constructor(codes: RefusalCodes) {
    this.#codes = codes
  }

  note(groupSize: number, error: ProviderError | undefined): void {
    if (error === undefined) this.#refusals = Number.NEGATIVE_INFINITY
    else if (groupSize === 1 && this.#codes.isAboutTags(error)) this.#refusals += 1
  }

  get isCertain(): boolean {
    return this.#refusals >= refusalsThatBlameTags
  }
}

async function attempt<Member>(
  group: readonly Member[],
  port: IsolationPort<Member>,
): Promise<ProviderError | undefined> {
  try {
    await port.send(group)
    return undefined
  } catch (thrown) {
    return asProviderError(thrown)
  }
}

/** Fails the members for which this was the answer, and returns what is to be sent again, the next one last. */
function leftAfter<Member>(
  group: readonly Member[],
  error: ProviderError,
  port: IsolationPort<Member>,
): readonly (readonly Member[])[] {
  if (!mayBeAboutOne(error, port.codes)) {
    for (const member of group) port.fail(member, error)
    return []
  }
  const [only] = group
  if (only !== undefined && group.length === 1) {
    port.refusedSingly(only, error)
    port.fail(only, error)
    return []
  }
  const named = port.named(error, group)
  if (named.size > 0) {
    for (const member of named) {
      port.refusedSingly(member, error)
      port.fail(member, error)
    }
    const rest = group.filter((member) => !named.has(member))
    return rest.length > 0 ? [rest] : []
  }
  const middle = Math.ceil(group.length / 2)
  return [group.slice(middle), group.slice(0, middle)]
}

/** An answer that refuses the call, and that other members might not have got. */
function mayBeAboutOne(error: ProviderError, codes: RefusalCodes): boolean {
  switch (error.kind) {
    case 'denied':
    case 'invalid':
    case 'not-found':
      return true
    case 'unavailable':
      return codes.isUnexplained(error)
    case 'throttled':
    case 'conflict':
      return false
    default:
      return error.kind satisfies never
  }
}

function notToldApart(cause: ProviderError | undefined): ProviderError {
  return new ProviderError(
    'unavailable',
    'the batch was refused for the sake of members that could not be told apart',
    {
      ...(cause?.code !== undefined && { code: cause.code }),
      cause,
    },
  )
}
