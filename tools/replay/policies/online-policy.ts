import type { ReplayRequest } from '../replay-request.ts'

/** Orders requests one by one as they arrive. It is notified of what was sent and how much of it is still cached. */
export interface OnlinePolicy {
  /** Returns the positions of the request's blocks in the order to send them: a permutation. */
  order(request: ReplayRequest): readonly number[]
  /** The request is sent to the engine in this order. */
  sent(request: ReplayRequest, order: readonly number[]): void
  /** Only the first `keptBlocks` blocks of a sent request are cached. */
  cut(request: ReplayRequest, keptBlocks: number): void
  /** Returns the search path of a sent request, for scheduling; empty if it shares nothing. */
  pathOf(request: ReplayRequest): readonly number[]
}
