import type { Context, ScopeId } from '#index/context-block.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Ordering } from '#index/ordering/ordering-index.ts'

/** The contexts of one body's prompts as they are to be sent: a later prompt can share what an earlier one begins with. */
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
    // what is only going to be sent has not been asked for yet
    index.insert(context, sizes, this.#added++, false)
  }

  /** Orders a context by those in front of it behind the same text; undefined when there are none. */
  order(scope: ScopeId, context: Context, sizes: readonly number[]): Ordering | undefined {
    const ordering = this.#indexes.get(scope)?.order(context, sizes)
    // no path of what the engine holds leads there, and what siblings share is in no history
    return ordering && { ...ordering, searchPath: [], mostShared: undefined }
  }
}
