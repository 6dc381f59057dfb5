import type { TraceBlock } from './trace-block.ts'

/** One request of a trace. */
export interface TraceRequest {
  /** as written in the trace, or derived from what it says */
  readonly queryId: string | number
  readonly query: string | undefined
  readonly conversation: string | undefined
  /** right answers; undefined: the trace has none */
  readonly answers?: readonly string[] | undefined
  /** Requests of different tenants share nothing. */
  readonly tenant: string
  /** Best first; a block may occur twice. */
  readonly blocks: readonly TraceBlock[]
  /** What stands in front of the blocks and behind them, in pieces; undefined: as the replay's options have it. */
  readonly around?: { readonly front: readonly TraceBlock[]; readonly rest: readonly TraceBlock[] } | undefined
  /** The blocks are pieces of a prompt that has an order of its own: no policy may move them, and nothing is added. */
  readonly fixed: boolean
}

/** Requests in the order of their arrival. */
export interface Trace {
  readonly name: string
  readonly requests: readonly TraceRequest[]
  /** lines left out because the trace holds no text for their blocks */
  readonly skipped: number
}

/** The tenant of requests that name none. */
export const defaultTenant = 'default'
