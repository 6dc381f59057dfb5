import type { Context, RequestId, RequestKey } from '../context-block.ts'
import type { Ordering, OrderingIndex } from '../ordering/ordering-index.ts'
import { alignContext } from '../plan/align-context.ts'
import { ContextIndex } from './context-index.ts'
import { searchPath } from './context-tree.ts'

/**
 * Ordering as in ContextPilot: search by Algorithm 1, alignment by Algorithm 2. Block sizes are ignored. An insertion
 * searches again with the context as sent, because other requests may have come and gone since it was ordered. The
 * positions in Equation 1 are then those that the engine holds.
 */
export class PaperOrdering<Request extends RequestKey = RequestId> implements OrderingIndex<Request> {
  #index = new ContextIndex<Request>()

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

  insert(context: Context, _sizes: readonly number[], request: Request): void {
    this.#index.insert(context, request)
  }

  cut(request: Request, length: number): void {
    const held = this.#index.contextOf(request)
    if (held) this.#index.insert(held.slice(0, length), request)
  }

  remove(request: Request): boolean {
    return this.#index.remove(request)
  }

  clear(): void {
    this.#index = new ContextIndex<Request>()
  }

  pathOf(request: Request): number[] | undefined {
    return this.#index.pathOf(request)
  }
}
