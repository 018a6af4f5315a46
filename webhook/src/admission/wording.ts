import type { ClaimProblem } from './claim-problems.ts'

/** What the API asks webhooks to keep to; beyond 4,096 in all it cuts everybody's. In characters. */
export const warningLengthMax = 120
export const warningsMax = 10
/** Of a refusal's message, in characters. */
export const denialLengthMax = 2000

/** kubectl shows a warning without saying whose it is. */
const subject = 'disk tags: '

/** At most ten, what is lost before what is changed; the last one counts the rest. */
export function warningsFor(problems: readonly ClaimProblem[]): readonly string[] {
  const isChanged = ({ becomes }: ClaimProblem) => Number(becomes !== undefined)
  const warnings = problems.toSorted((a, b) => isChanged(a) - isChanged(b)).map((problem) => warningFor(problem))
  if (warnings.length <= warningsMax) return warnings
  const shown = warnings.slice(0, warningsMax - 1)
  return [...shown, `${subject}and ${warnings.length - shown.length} more`]
}

/** Of a default label whose template gives what no label can be. */
export function noDefaultWarning(key: string): string {
  return printable(`${subject}label ${cut(key, 50)} gets no default: its value here would be no legal label value`)
}

/** The key, the reason, and what it becomes, in this order of what is kept where it does not all fit. */
function warningFor(problem: ClaimProblem): string {
  const forms = [
    `${effectOn(problem)}: ${whyOf(problem)}`,
    `${effectOn(problem)}: ${reasons[problem.kind].short}`,
    `${effectOn(problem, cutLength)}: ${reasons[problem.kind].short}`,
  ].map((form) => printable(subject + form))
  return forms.find((form) => form.length <= warningLengthMax) ?? cut(forms.at(-1) ?? '', warningLengthMax)
}

/** Two of this length, the words around them and the longest short reason fit into a warning. */
const cutLength = 25

function effectOn({ kind, noun, key, becomes }: ClaimProblem, lengthMax = Number.POSITIVE_INFINITY): string {
  const named = `${noun} ${cut(key, lengthMax)}`
  if (kind === 'missing-label') return named
  if (becomes === undefined) return `${named} is left out`
  return kind === 'changed-value'
    ? `the value of ${named} becomes ${cut(becomes.value, lengthMax)}`
    : `${named} becomes ${cut(becomes.key, lengthMax)}`
}

/** The rules' own words; what was done is said already, but for these two, whose second half says what counts instead. */
function whyOf({ kind, message }: ClaimProblem): string {
  if (kind === 'enforced' || kind === 'invalid-annotation') return message
  const end = message.lastIndexOf(';')
  return end === -1 ? message : message.slice(0, end)
}

interface Reason {
  readonly short: string
  /** What would be taken. */
  readonly remedy: string
}

const reasons: Readonly<Record<ClaimProblem['kind'], Reason>> = {
  'protected-key': { short: 'the key is reserved', remedy: 'use another key' },
  'invalid-key': { short: 'the cloud cannot hold the key', remedy: 'use another key' },
  'invalid-value': { short: 'the cloud cannot hold the value', remedy: 'use another value' },
  'changed-key': { short: 'the cloud cannot hold the key', remedy: 'use a key that needs no change' },
  'changed-value': { short: 'the cloud cannot hold the value', remedy: 'use a value that needs no change' },
  collision: { short: 'another becomes the same tag', remedy: 'keep one of the two' },
  'over-limit': { short: 'a disk cannot hold so many', remedy: 'use fewer labels' },
  'denied-value': { short: 'the value is on the deny list', remedy: 'use another value' },
  enforced: { short: 'the tag is enforced', remedy: 'leave it out, or give it that value' },
  'invalid-annotation': {
    short: 'it cannot be read; the tags that are there stay',
    remedy: 'write a JSON map, or key=value,key=value',
  },
  'invalid-template': { short: 'its template has no value here', remedy: 'add what the template needs' },
  'missing-label': { short: 'it is required and missing', remedy: 'add it' },
}

/** One message that names what is refused, why, and what would be taken. */
export function denialFor(problems: readonly ClaimProblem[]): string {
  const parts: string[] = []
  let length = 0
  const add = (part: string, room: number): boolean => {
    if (length + part.length > denialLengthMax - room) return false
    parts.push(part)
    length += part.length + 2
    return true
  }
  const untold = problems.filter((problem) => {
    const named = `${problem.noun} ${printable(cut(problem.key, 80))}`
    const { remedy } = reasons[problem.kind]
    // Names take less room than reasons: where those would not fit any more, the names still do.
    return !add(`${named}: ${printable(cut(whyOf(problem), 200))} (${remedy})`, 800) && !add(named, 100)
  })
  if (untold.length > 0) parts.push(`and ${untold.length} more`)
  return `the rules for disk tags do not allow ${parts.join('; ')}`
}

/** In the middle, since the ends of a key tell more. */
function cut(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const head = Math.ceil((lengthMax - 1) / 2)
  return `${text.slice(0, head)}…${text.slice(text.length - (lengthMax - 1 - head))}`.toWellFormed()
}

/** An HTTP header takes no control character and no half of one that is written in two. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}
