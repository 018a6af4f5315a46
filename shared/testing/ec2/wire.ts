// EC2's query protocol: a form in, XML out. Answers are built from small strings and streamed, since an unpaged
// DescribeVolumes over a large account is far bigger than what one string should hold.

/** A refusal as EC2 words it. */
export class AwsFault extends Error {
  readonly code: string
  readonly status: number
  readonly retryAfterSeconds: number | undefined

  constructor(code: string, message: string, status = 400, retryAfterSeconds?: number) {
    super(message)
    this.code = code
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The form of one call. Lists are written `Name.1`, `Name.2`; members of structures `Name.1.Member`. */
export class CallParameters {
  readonly #fields: ReadonlyMap<string, string>
  readonly #lists = new Map<string, [order: number, value: string][]>()

  constructor(body: string) {
    this.#fields = new Map(new URLSearchParams(body))
    for (const [name, value] of this.#fields) {
      const dot = name.indexOf('.')
      if (dot === -1) continue
      const order = Number(name.slice(dot + 1))
      if (!Number.isInteger(order)) continue
      const list = this.#lists.get(name.slice(0, dot))
      if (list === undefined) this.#lists.set(name.slice(0, dot), [[order, value]])
      else list.push([order, value])
    }
  }

  get(name: string): string | undefined {
    return this.#fields.get(name)
  }

  /** The values of `name.1`, `name.2` in the order of their numbers. */
  list(name: string): string[] {
    return (this.#lists.get(name) ?? []).toSorted(([a], [b]) => a - b).map(([, value]) => value)
  }

  /** Each structure of `name.1.…`, `name.2.…`, with its members by name, such as `Key` or `Value.1`. */
  structures(name: string): ReadonlyMap<string, string>[] {
    const byOrder = new Map<number, Map<string, string>>()
    for (const [field, value] of this.#fields) {
      if (!field.startsWith(`${name}.`)) continue
      const [order, ...member] = field.slice(name.length + 1).split('.')
      const structure = byOrder.get(Number(order)) ?? new Map<string, string>()
      structure.set(member.join('.'), value)
      byOrder.set(Number(order), structure)
    }
    return [...byOrder].toSorted(([a], [b]) => a - b).map(([, structure]) => structure)
  }

  /** What is not part of a list of ids: small enough to be kept in a log. */
  summary(): Record<string, string> {
    return Object.fromEntries([...this.#fields].filter(([name]) => !/^(?:VolumeId|ResourceId)\.\d+$/.test(name)))
  }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#xD;' }

export function escapeXml(text: string): string {
  return /[&<>"\r]/.test(text) ? text.replaceAll(/[&<>"\r]/g, (char) => entities[char] ?? char) : text
}

export function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`
}

const ec2Namespace = 'http://ec2.amazonaws.com/doc/2016-11-15/'
const stsNamespace = 'https://sts.amazonaws.com/doc/2011-06-15/'

export function* ec2Answer(action: string, requestId: string, content: Iterable<string>): Iterable<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<${action}Response xmlns="${ec2Namespace}"><requestId>${requestId}</requestId>`
  yield* content
  yield `</${action}Response>`
}

export function ec2Error(fault: AwsFault, requestId: string): string {
  const error = `<Error>${element('Code', fault.code)}${element('Message', fault.message)}</Error>`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors>${error}</Errors><RequestID>${requestId}</RequestID></Response>`
}

export function stsAnswer(action: string, requestId: string, result: string): string {
  const metadata = `<ResponseMetadata><RequestId>${requestId}</RequestId></ResponseMetadata>`
  return `<${action}Response xmlns="${stsNamespace}"><${action}Result>${result}</${action}Result>${metadata}</${action}Response>`
}

export function stsError(fault: AwsFault, requestId: string): string {
  const error = `<Error><Type>Sender</Type>${element('Code', fault.code)}${element('Message', fault.message)}</Error>`
  return `<ErrorResponse xmlns="${stsNamespace}">${error}<RequestId>${requestId}</RequestId></ErrorResponse>`
}
