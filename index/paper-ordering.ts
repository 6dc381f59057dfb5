import { alignContext } from './align-context.ts'
import type { Context, RequestId } from './context-block.ts'
import { ContextIndex } from './context-index.ts'
import { searchPath } from './context-tree.ts'
import type { Ordering, OrderingIndex } from './ordering-index.ts'

/** Ordering as ContextPilot has it: search by Algorithm 1, alignment by Algorithm 2. Block sizes play no part. */
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
