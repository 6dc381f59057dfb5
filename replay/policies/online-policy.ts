import type { ReplayRequest } from '../replay-request.ts'

/** Orders requests one by one as they arrive, and learns what was sent and what of it is still cached. */
export interface OnlinePolicy {
  /** The places of the request's blocks in the order to send them: a permutation. */
  order(request: ReplayRequest): readonly number[]
  /** The request goes to the engine in this order. */
  sent(request: ReplayRequest, order: readonly number[]): void
  /** Of the blocks of a request that was sent, only the first `keptBlocks` are cached. */
  cut(request: ReplayRequest, keptBlocks: number): void
  /** The search path of a request that was sent, for scheduling; empty when it shares nothing. */
  pathOf(request: ReplayRequest): readonly number[]
}
