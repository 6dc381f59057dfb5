import { ConfigError } from '#proxy/common/errors.ts'
import type { ReplayRequest } from '../replay-request.ts'

/** A request and the order in which its blocks were sent. */
export interface SentRequest {
  readonly request: ReplayRequest
  readonly order: readonly number[]
}

/** The result of running a trace under one policy. */
export interface ReplayRun {
  readonly policy: string
  /** in execution order */
  readonly sent: readonly SentRequest[]
  readonly cachedTokens: number
  readonly promptTokens: number
  /** time that the policy took for each request, in microseconds */
  readonly microseconds: readonly number[]
  readonly seconds: number
}

/** Throws a `ConfigError` unless the order sends each block exactly once. */
export function checkOrder(policy: string, { request, order }: SentRequest): void {
  const seen = new Set(order)
  const count = request.context.length
  const isPermutation =
    order.length === count && seen.size === count && order.every((place) => place in request.context)
  if (isPermutation) return
  const name = JSON.stringify(request.trace.queryId)
  throw new ConfigError(`internal error: the policy ${policy} gave no permutation of the blocks of request ${name}`)
}
