import type { ReplayRequest } from '../replay-request.ts'

/** A request as a plan has it. */
export interface PlannedRequest {
  readonly request: ReplayRequest
  /** The places of its blocks in the order to send them: a permutation. */
  readonly order: readonly number[]
  /** Requests of one group run one after the other. */
  readonly group: number
  /** Where it stands in the index of the batch; empty when it shares nothing. */
  readonly searchPath: readonly number[]
}

/** Orders and schedules a whole batch. */
export interface OfflinePolicy {
  /** Every request once, in the order to run them. */
  plan(requests: readonly ReplayRequest[]): PlannedRequest[]
}
