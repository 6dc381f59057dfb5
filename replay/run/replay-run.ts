import type { HostFigures } from '../cache/host-tier.ts'
import type { OrderingName } from '../policies/policy-names.ts'
import type { ReplayRequest } from '../replay-request.ts'

/** A request as it was run. */
export interface SentRequest {
  readonly request: ReplayRequest
  readonly order: readonly number[]
}

/** What came of running a trace under one policy. */
export interface ReplayRun {
  readonly policy: OrderingName
  /** in the order of execution */
  readonly sent: readonly SentRequest[]
  readonly cachedTokens: number
  readonly promptTokens: number
  /** time of the policy for each request, in microseconds */
  readonly microseconds: readonly number[]
  readonly seconds: number
  /** modelled, of all requests together (`LatencyModel`) */
  readonly waitSeconds: number
  readonly hostFigures: HostFigures | undefined
}
