import type { ApiRequest } from '../kubernetes/api-request.ts'
import type { Moment } from '../kubernetes/http-front.ts'
import { eventually } from './eventually.ts'
import type { Installation } from './installation.ts'
import type { RunningProgram } from './running-program.ts'

/** The calls that a change of one claim makes, in order. */
export const steps = [
  'GET claim',
  'GET volume',
  'DescribeVolumes',
  'PATCH intent',
  'CreateTags',
  'PATCH settle',
  'POST event',
] as const

export type Step = (typeof steps)[number]

export interface Death {
  readonly step: Step
  /** Before: nothing of the call was done. After: all of it was done, and nobody heard the answer. */
  readonly moment: Moment
}

/** Kills a program with SIGKILL at its next call of this kind. Resolves when it is dead, and rejects where it lives on. */
export function killAt(installation: Installation, program: RunningProgram, death: Death): Promise<void> {
  arm(installation, program, death)
  const problem = () => `${program.name} has not come to ${death.step}\n${program.process.lastWords}`
  return eventually(problem, () => !program.process.isRunning, 15_000)
}

function arm(installation: Installation, program: RunningProgram, death: Death): void {
  switch (death.step) {
    case 'DescribeVolumes':
    case 'CreateTags':
      return killAtCloudCall(installation, program, { action: death.step, moment: death.moment })
    case 'GET claim':
    case 'GET volume':
    case 'PATCH intent':
    case 'PATCH settle':
    case 'POST event':
      return killAtRequest(installation, program, death)
    default:
      return death.step satisfies never
  }
}

function killAtRequest({ kubernetes }: Installation, program: RunningProgram, { step, moment }: Death): void {
  const unhook = kubernetes.onRequest(async (now, request) => {
    if (now !== moment || request.user.username !== program.account || stepOf(request) !== step) return
    unhook()
    await program.process.kill()
    // What throws here is not carried out.
    if (moment === 'before') throw new Error('its caller is dead')
  })
}

function killAtCloudCall(
  installation: Installation,
  program: RunningProgram,
  { action, moment }: { readonly action: string; readonly moment: Moment },
): void {
  installation.cloud.inject(moment === 'before' ? { kind: 'drop' } : { kind: 'lost-answer', how: 'hang' }, { action })
  const unhook = installation.onCloudCall(async (call) => {
    if (call.action !== action) return
    unhook()
    if (moment === 'before') await program.process.kill()
    // The call takes effect as soon as this returns, and then never answers.
    else setTimeout(() => void program.process.kill(), 20)
  })
}

function stepOf({ verb, type, body }: ApiRequest): Step | undefined {
  if (verb === 'get' && type.plural === 'persistentvolumeclaims') return 'GET claim'
  if (verb === 'get' && type.plural === 'persistentvolumes') return 'GET volume'
  if (verb === 'create' && type.plural === 'events') return 'POST event'
  if (verb !== 'patch' || type.plural !== 'persistentvolumes' || !Array.isArray(body)) return undefined
  // Beside it stand tests of what was there before.
  const written = (body as { op: string; value: unknown }[]).find(({ op }) => op === 'add')
  return JSON.stringify(written?.value).includes('intent') ? 'PATCH intent' : 'PATCH settle'
}
