import type { ReplayRequest } from '../replay-request.ts'

/** A request in a plan. */
export interface PlannedRequest {
  readonly request: ReplayRequest
  /** The positions of its blocks in the order to send them: a permutation. */
  readonly order: readonly number[]
  /** Requests of one group run consecutively. */
  readonly group: number
  /** Its position in the index of the batch; empty if it shares nothing. */
  readonly searchPath: readonly number[]
}

/** Orders and schedules a whole batch. */
export interface OfflinePolicy {
  /** Returns every request once, in the order to run them. */
  plan(requests: readonly ReplayRequest[]): PlannedRequest[]
}
