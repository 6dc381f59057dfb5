import type { Context, ScopeId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Ordering } from '#index/ordering/ordering-index.ts'

/**
 * The contexts of one body's prompts as they are to be sent: a later prompt can share the beginning of an earlier one.
 */
export class SiblingContexts {
  readonly #mirror: Pick<CacheMirror, 'createIndex'>
  readonly #indexes = new Map<ScopeId, ReturnType<CacheMirror['createIndex']>>()
  #added = 0

  constructor(mirror: Pick<CacheMirror, 'createIndex'>) {
    this.#mirror = mirror
  }

  add(scope: ScopeId, context: Context, sizes: readonly number[]): void {
    const known = this.#indexes.get(scope)
    const index = known ?? this.#mirror.createIndex()
    if (known === undefined) this.#indexes.set(scope, index)
    // not sent yet, so it does not count as demand
    index.insert(context, sizes, this.#added++, false)
  }

  /** Orders a context by those of earlier prompts that follow the same text; undefined if there are none. */
  order(scope: ScopeId, context: Context, sizes: readonly number[]): Ordering | undefined {
    const ordering = this.#indexes.get(scope)?.order(context, sizes)
    // siblings are not in the index of what the engine holds, nor in its demand history
    return ordering && { ...ordering, searchPath: [] }
  }
}
