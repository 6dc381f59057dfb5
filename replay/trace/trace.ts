import type { TraceBlock } from './trace-block.ts'

/** One request of a trace. */
export interface TraceRequest {
  /** as written in the trace, or derived from other fields */
  readonly queryId: string | number
  readonly query: string | undefined
  readonly conversation: string | undefined
  /** correct answers; undefined if the trace has none */
  readonly answers?: readonly string[] | undefined
  /** Requests of different tenants share nothing. */
  readonly tenant: string
  /** Best first; a block may occur twice. */
  readonly blocks: readonly TraceBlock[]
  /** Pieces before and after the blocks; undefined: as set by the replay's options. */
  readonly around?: { readonly front: readonly TraceBlock[]; readonly rest: readonly TraceBlock[] } | undefined
  /** The blocks are the pieces of a complete prompt: no policy may move them, and nothing is added. */
  readonly fixed: boolean
}

/** A trace, with its requests in order of arrival. */
export interface Trace {
  readonly name: string
  readonly requests: readonly TraceRequest[]
  /** lines left out because the trace holds no text for their blocks */
  readonly skipped: number
}

/** The tenant of requests without one. */
export const defaultTenant = 'default'
