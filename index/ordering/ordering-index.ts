import type { Context, RequestId, RequestKey } from '../context-block.ts'

/** The order in which to send a context. */
export interface Ordering {
  /** positions in the context as received, in the order to send them: a permutation of 0 … n − 1 */
  readonly order: readonly number[]
  /** slots from the root to the node whose prefix is shared; empty if none is */
  readonly searchPath: readonly number[]
}

/**
 * The contexts that an engine holds after one text. It orders new contexts so that they share what is held.
 */
export interface OrderingIndex<Request extends RequestKey = RequestId> {
  readonly nodes: number
  readonly requests: number
  /** Orders a context; `sizes[i]` is what its block i costs to prefill, in any unit. Changes nothing. */
  order(context: Context, sizes: readonly number[]): Ordering
  /** Holds a context as sent, replacing what the request held before. */
  insert(context: Context, sizes: readonly number[], request: Request): void
  /** Removes a request. Returns false if it is not held. */
  remove(request: Request): boolean
  /** Returns the search path of a request's context; undefined if it is not held. */
  pathOf(request: Request): number[] | undefined
}
