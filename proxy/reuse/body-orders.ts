import type { Context, ScopeId } from '#index/context-block.ts'
import { getOrMake } from '#index/get-or-make.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Ordering } from '#index/ordering/ordering-index.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { Layout } from '../prompt/layout.ts'

/** In which orders the lists of a body go: as it states, as the engine holds them, or as its earlier prompts have them. */
export class BodyOrders {
  readonly #mirror: Pick<CacheMirror, 'order' | 'createIndex'>
  /** by list: positions of its blocks, in the order that the body states */
  readonly stated: Map<PromptContext, readonly number[]> = new Map()
  /** of bodies with several prompts: their contexts as they are to be sent, by the text that they follow */
  readonly #siblings: Map<ScopeId, ReturnType<CacheMirror['createIndex']>> | undefined

  /**
   * `stated`: positions of blocks, counted across all lists of the body. A list that they do not reach, or whose blocks
   * they do not name once each, is ordered like any other.
   */
  constructor(
    { prompts }: Pick<Layout, 'prompts'>,
    mirror: Pick<CacheMirror, 'order' | 'createIndex'>,
    stated: readonly number[] = [],
  ) {
    this.#mirror = mirror
    this.#siblings = prompts.length > 1 ? new Map() : undefined
    let start = 0
    for (const context of prompts.flatMap(({ messages }) => messages.flatMap(({ contexts }) => contexts))) {
      const { length } = context.slots
      const order = stated.slice(start, start + length).map((position) => position - start)
      if (isPermutation(order, length)) this.stated.set(context, order)
      start += length
    }
  }

  /** Orders a context by what the engine holds behind the same text; if it holds nothing to share, by earlier prompts. */
  search(scope: ScopeId, context: Context, sizes: readonly number[]): Ordering | undefined {
    const held = this.#mirror.order(scope, context, sizes)
    if (held && held.searchPath.length > 0) return held
    const ordering = this.#siblings?.get(scope)?.order(context, sizes)
    // siblings are not in the index of what the engine holds, nor in its demand history
    return ordering ? { ...ordering, searchPath: [] } : held
  }

  /** Adds a context as it is to be sent: a later prompt can share its beginning. */
  add(scope: ScopeId, context: Context, sizes: readonly number[]): void {
    if (this.#siblings === undefined) return
    const index = getOrMake(this.#siblings, scope, () => this.#mirror.createIndex())
    // not sent yet, so it does not count as demand
    index.insert(context, sizes, index.requests, false)
  }
}

/** Whether an order names each of so many places once. */
export function isPermutation(order: readonly number[], length: number): boolean {
  return (
    order.length === length && new Set(order).size === length && order.every((place) => place >= 0 && place < length)
  )
}
