import type { SharedBlocks } from '../columns/block-table.ts'
import type { Context, RequestId, RequestKey } from '../context-block.ts'

/** How a context is to be sent. */
export interface Ordering {
  /** places in the context as received, in the order to send them: a permutation of 0 … n − 1 */
  readonly order: readonly number[]
  /** slots from the root to the node whose prefix is shared; empty when none is */
  readonly searchPath: readonly number[]
  /** the most that one past request has in common with the context, in the unit of sizes; undefined: not known */
  readonly mostShared?: number | undefined
}

/**
 * The contexts an engine holds behind one text: orders new ones so that they share what is held.
 */
export interface OrderingIndex<Request extends RequestKey = RequestId> {
  readonly nodes: number
  readonly requests: number
  /** an estimate of the memory it takes, where there is one */
  readonly bytes?: number
  /** Orders a context; `sizes[i]` is what its block i costs to prefill, in any unit. Changes nothing. */
  order(context: Context, sizes: readonly number[]): Ordering
  /**
   * Holds a context as it was sent, in place of what the request held before. `isAsked` false: of a request that held
   * nothing any more something is stored anew, which says nothing about what is asked for.
   */
  insert(context: Context, sizes: readonly number[], request: Request, isAsked?: boolean): void
  /** whose numbers `insertNumbers` takes */
  readonly blocks?: SharedBlocks
  /** The same of blocks by their numbers. */
  insertNumbers?(blocks: readonly number[], request: Request, isAsked: boolean): void
  /** A request holds no more than the first `length` blocks of what it held: one at least, and fewer than it held. */
  cut(request: Request, length: number): void
  /** Forgets a request; false when it is not known. */
  remove(request: Request): boolean
  /** Nothing is held any more; what is asked for is remembered. */
  clear(): void
  /** The search path of what a request holds. */
  pathOf(request: Request): number[] | undefined
}
