import type { Request, Response } from 'express'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { BodyError } from '../server/body-reader.ts'
import type { BodyReader } from '../server/body-reader.ts'
import { decide } from './decide.ts'
import type { Job, ReviewOutcome } from './decide.ts'
import { decodeReview, encodeAnswer } from './review.ts'

/** What became of a request that was no review. */
export type RefusedOutcome =
  | 'wrong-path'
  | 'wrong-method'
  | 'wrong-type'
  | 'too-large'
  | 'overloaded'
  | 'malformed'
  | 'broken-off'

export const refusedOutcomes: readonly RefusedOutcome[] = [
  'wrong-path',
  'wrong-method',
  'wrong-type',
  'too-large',
  'overloaded',
  'malformed',
  'broken-off',
]

export interface ValidateHandlerDeps {
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
  /** Takes the job in; must return at once and never throw. */
  readonly enqueue: (job: Job) => void
  readonly observe: (outcome: ReviewOutcome | RefusedOutcome, seconds: number) => void
}

/**
 * Answers `POST /validate`. The checks come in controller-runtime's order: body, size, content type, decode. Each refusal
 * is a plain 4xx, which the API server takes for a failed call and, under `Ignore`, lets the write pass.
 */
export function validateHandler({ bodies, clock, logger, enqueue, observe }: ValidateHandlerDeps) {
  return async (request: Request, response: Response): Promise<void> => {
    const startedMs = clock.monotonicMs()
    const finish = (outcome: ReviewOutcome | RefusedOutcome) =>
      observe(outcome, (clock.monotonicMs() - startedMs) / 1000)
    const refuse = (status: number, outcome: RefusedOutcome, message: string) => {
      // What was not read would be taken for the next request.
      if (!request.complete) response.setHeader('connection', 'close')
      sendError(response, status, message)
      logger.debug({ status, outcome, problem: message }, 'review refused')
      finish(outcome)
    }

    let body: string
    try {
      body = await bodies.read(request)
    } catch (error) {
      if (!(error instanceof BodyError)) return finish('broken-off')
      return refuse(error.status, bodyOutcomes[error.status], error.message)
    }
    const type = request.headers['content-type']
    if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
      return refuse(415, 'wrong-type', `content-type must be application/json, not ${type ?? 'absent'}`)
    }
    const decoded = decodeReview(body)
    if (decoded.kind === 'malformed') return refuse(400, 'malformed', decoded.problem)

    const { answer, job, outcome } = decide(decoded.request)
    response.setHeader('content-type', 'application/json')
    response.end(encodeAnswer(decoded.request.uid, answer))
    finish(outcome)
    if (job !== undefined) enqueue(job)
  }
}

const bodyOutcomes: Readonly<Record<BodyError['status'], RefusedOutcome>> = {
  400: 'malformed',
  413: 'too-large',
  503: 'overloaded',
}

export function sendError(response: Response, status: number, message: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ code: status, message }))
}
