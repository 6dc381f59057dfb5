import type { BlockId, ScopeId } from '#index/context-block.ts'
import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'

const [listsRemembered, listsOrderedBy] = [512, 256]

/** A list as the engine sees it, and the lengths of its blocks in characters. */
export interface GainedList {
  /** identity of everything in front of it */
  readonly front: ScopeId
  readonly blocks: readonly BlockId[]
  readonly sizes: readonly number[]
}

/**
 * What moving the lists of a template gains, or would gain: the share of their characters that a cache of the
 * last lists finds, in the order received and as ordered. A cache finds nothing behind a text that differs.
 */
export class TemplateGain {
  #index = new PrefixOrdering<number>({ maxContexts: listsOrderedBy })
  #received = new SentOrders()
  #ordered = new SentOrders()
  #lists = 0
  #characters = 0
  #foundAsReceived = 0
  #foundAsOrdered = 0

  note({ front, blocks, sizes }: GainedList): void {
    const { order } = this.#index.order(blocks, sizes)
    const ordered = order.map((place) => blocks[place]!)
    const orderedSizes = order.map((place) => sizes[place]!)
    this.#characters += sizes.reduce((sum, size) => sum + size, 0)
    this.#foundAsReceived += this.#received.add([front, ...blocks], [0, ...sizes])
    this.#foundAsOrdered += this.#ordered.add([front, ...ordered], [0, ...orderedSizes])
    this.#index.insert(ordered, orderedSizes, this.#lists++)
  }

  /** Shares of the characters of all lists, from 0 to 1. */
  get shares(): { readonly as_received: number; readonly as_ordered: number } {
    const all = Math.max(1, this.#characters)
    return { as_received: this.#foundAsReceived / all, as_ordered: this.#foundAsOrdered / all }
  }
}

class SentOrders {
  /** oldest first */
  readonly #last: (readonly string[])[] = []

  /** Adds an order. Returns how many of its characters an earlier one shares with it from the start. */
  add(blocks: readonly string[], sizes: readonly number[]): number {
    let shared = 0
    for (const sent of this.#last) {
      // few share more than those before them
      if (sent[shared] !== blocks[shared]) continue
      let same = 0
      while (same < blocks.length && sent[same] === blocks[same]) same++
      shared = Math.max(shared, same)
    }
    this.#last.push(blocks)
    if (this.#last.length > listsRemembered) this.#last.shift()
    return sizes.slice(0, shared).reduce((sum, size) => sum + size, 0)
  }
}
