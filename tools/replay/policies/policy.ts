import type { ReplayRequest } from '../replay-request.ts'

/** Policies for ordering contexts. `bound` is not a policy but a row in the report to compare them with. */
export const policyNames = ['rank', 'sorted', 'paper', 'reprise', 'bound'] as const
export type PolicyName = (typeof policyNames)[number]
/** A policy that orders contexts. */
export type OrderingName = Exclude<PolicyName, 'bound'>

/** Orders requests one by one as they arrive. It is told what was sent and how much of it is still cached. */
export interface OnlinePolicy {
  /** Returns the positions of the request's blocks in the order to send them: a permutation. */
  order(request: ReplayRequest): readonly number[]
  /** Of a request that was sent in this order, the first `blocks` blocks are cached: at first all. */
  holds(request: ReplayRequest, order: readonly number[], blocks: number): void
}

export interface PlannedRequest {
  readonly request: ReplayRequest
  /** The positions of its blocks in the order to send them: a permutation. */
  readonly order: readonly number[]
  /** Requests of one group run consecutively. */
  readonly group: number
  /** Its position in the index of the batch; empty if it shares nothing. */
  readonly searchPath: readonly number[]
}

/** Orders and schedules a whole batch. Returns every request once, in the order to run them. */
export type PlanBatch = (requests: readonly ReplayRequest[]) => PlannedRequest[]

/** Returns the order as received: best first. */
export function rankOrder({ context }: ReplayRequest): number[] {
  return context.map((_, place) => place)
}

/** Sorts by id, so that equal sets of blocks give equal prompts: numbers first, then strings by code unit. */
export function sortedOrder({ trace, context }: ReplayRequest): number[] {
  const ids = trace.blocks.map(({ id }) => id)
  return context.map((_, place) => place).sort((a, b) => compareIds(ids[a]!, ids[b]!) || a - b)
}

function compareIds(a: string | number, b: string | number): number {
  if (typeof a === 'number') return typeof b === 'number' ? a - b : -1
  if (typeof b === 'number' || a > b) return 1
  return a < b ? -1 : 0
}
