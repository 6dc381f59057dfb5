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
