import { azureBuckets } from './budget-profiles.ts'

/** Header names are in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | undefined>>

/** Below this part of a bucket we slow down before we are made to. */
const lowPart = 0.2
/** All identities together have so many times what one of them has. */
const globalFactor = 15

const remaining = 'x-ms-ratelimit-remaining'
const bursts: Readonly<Record<string, number>> = {
  [`${remaining}-subscription-reads`]: azureBuckets.GetTags.burst,
  [`${remaining}-subscription-writes`]: azureBuckets.UpdateTags.burst,
  [`${remaining}-subscription-global-reads`]: azureBuckets.GetTags.burst * globalFactor,
  [`${remaining}-subscription-global-writes`]: azureBuckets.UpdateTags.burst * globalFactor,
  'x-ms-user-quota-remaining': azureBuckets.QueryResources.burst,
}
/** `Microsoft.Compute/PutDisk3Min;99,…`: what the bucket holds when full is not said, only that it is empty. */
const ofResource = `${remaining}-resource`

/** Whether Azure says, beside its answer, that little is left of what this identity may call. */
export function isQuotaLow(headers: AnswerHeaders): boolean {
  for (const [header, burst] of Object.entries(bursts)) {
    const left = countIn(headers[header])
    if (left !== undefined && left < burst * lowPart) return true
  }
  const limits = headers[ofResource]?.split(',') ?? []
  return limits.some((limit) => countIn(limit.split(';').at(-1)) === 0)
}

function countIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+\s*$/.test(text) ? Number(text) : undefined
}
