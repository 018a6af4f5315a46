import type { Request, Response } from 'express'
import type { Clock } from '@k8s-cloud-tagger/shared/runtime/clock.ts'
import type { Logger } from '@k8s-cloud-tagger/shared/runtime/logger.ts'
import { BodyError } from '../server/body-reader.ts'
import type { BodyReader } from '../server/body-reader.ts'
import { decodeReview, encodeAnswer } from './review.ts'
import type { Answer, ReviewRequest } from './review.ts'

/** What became of a request that was no review. */
export type RefusedOutcome =
  | 'wrong-path'
  | 'wrong-method'
  | 'wrong-type'
  | 'too-large'
  | 'overloaded'
  | 'malformed'
  | 'broken-off'
  | 'failed'

export const refusedOutcomes: readonly RefusedOutcome[] = [
  'wrong-path',
  'wrong-method',
  'wrong-type',
  'too-large',
  'overloaded',
  'malformed',
  'broken-off',
  'failed',
]

export interface Reply<Outcome extends string> {
  readonly answer: Answer
  /** A metric label. */
  readonly outcome: Outcome
  /** What is left to do once the answer is out; must return at once and never throw. */
  readonly afterwards?: (() => void) | undefined
}

export interface ReviewHandlerDeps<Outcome extends string> {
  readonly bodies: BodyReader
  readonly clock: Clock
  readonly logger: Logger
  readonly reply: (request: ReviewRequest) => Promise<Reply<Outcome>>
  readonly observe: (outcome: Outcome, seconds: number) => void
  readonly onRefused: (outcome: RefusedOutcome, seconds: number) => void
}

/**
 * The frame of both endpoints. The checks come in controller-runtime's order: body, size, content type, decode. Each
 * refusal is a plain error, which the API server takes for a failed call and, under `Ignore`, lets the write pass.
 */
export function reviewHandler<Outcome extends string>(deps: ReviewHandlerDeps<Outcome>) {
  const { bodies, clock, logger, reply, observe, onRefused } = deps
  return async (request: Request, response: Response): Promise<void> => {
    const startedMs = clock.monotonicMs()
    const seconds = () => (clock.monotonicMs() - startedMs) / 1000
    const refuse = (status: number, outcome: RefusedOutcome, message: string) => {
      // What was not read would be taken for the next request.
      if (!request.complete) response.setHeader('connection', 'close')
      sendError(response, status, message)
      logger.debug({ status, outcome, problem: message }, 'review refused')
      onRefused(outcome, seconds())
    }

    let body: string
    try {
      body = await bodies.read(request)
    } catch (error) {
      if (!(error instanceof BodyError)) return onRefused('broken-off', seconds())
      return refuse(error.status, bodyOutcomes[error.status], error.message)
    }
    const type = request.headers['content-type']
    if (type === undefined || !/^application\/json\s*(;|$)/i.test(type)) {
      return refuse(415, 'wrong-type', `content-type must be application/json, not ${type ?? 'absent'}`)
    }
    const decoded = decodeReview(body)
    if (decoded.kind === 'malformed') return refuse(400, 'malformed', decoded.problem)

    let text: string
    let replied: Reply<Outcome>
    try {
      replied = await reply(decoded.request)
      text = encodeAnswer(decoded.request.uid, replied.answer)
    } catch (error) {
      logger.error({ err: error }, 'a bug: a review could not be judged')
      return refuse(500, 'failed', 'the review could not be judged')
    }
    response.setHeader('content-type', 'application/json')
    response.end(text)
    observe(replied.outcome, seconds())
    replied.afterwards?.()
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
