import type { Context, RequestId } from '#index/context-block.ts'
import type { Ordering, OrderingIndex } from '#index/ordering/ordering-index.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { ContextIndex } from './context-index.ts'
import { searchPath } from './context-tree.ts'

/**
 * Ordering as in ContextPilot: search by Algorithm 1, alignment by Algorithm 2. Block sizes are ignored. An insertion
 * searches again with the context as sent, because other requests may have come and gone since it was ordered. The
 * positions in Equation 1 are then those that the engine holds.
 */
export class PaperOrdering implements OrderingIndex {
  readonly #index = new ContextIndex()

  get nodes(): number {
    return this.#index.nodes
  }

  get requests(): number {
    return this.#index.requests
  }

  order(context: Context): Ordering {
    const { node, prefix } = this.#index.search(context)
    return { order: alignContext(context, prefix), searchPath: searchPath(node) }
  }

  insert(context: Context, _sizes: readonly number[], request: RequestId): void {
    this.#index.insert(context, request)
  }

  remove(request: RequestId): boolean {
    return this.#index.remove(request)
  }

  pathOf(request: RequestId): number[] | undefined {
    return this.#index.pathOf(request)
  }
}
