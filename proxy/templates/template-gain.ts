import type { BlockId, ScopeId } from '#index/context-block.ts'
import { PrefixOrdering } from '#index/ordering/prefix-ordering.ts'

/** After this many lists, what is older than as many is forgotten. */
const listsPerGeneration = 256

/** What stood in front of lists and their blocks, in the order they were sent, as a tree. */
type Sent = Map<string, Sent>

/** A list: what stands in front of it, and its blocks with their lengths in characters. */
interface GainedList {
  readonly front: ScopeId
  readonly blocks: readonly BlockId[]
  readonly sizes: readonly number[]
}

/**
 * What moving the lists of a template gains, or would gain: the share of their characters that a cache finds which
 * forgets nothing, in the order received and as ordered. A cache finds nothing behind a text that differs.
 */
export class TemplateGain {
  #index = new PrefixOrdering<number>({ maxContexts: listsPerGeneration })
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
  #generations: [Sent, Sent] = [new Map(), new Map()]
  #added = 0

  /** Adds an order. Returns how many of its characters an earlier one shares with it from the start. */
  add(blocks: readonly string[], sizes: readonly number[]): number {
    const found = Math.max(...this.#generations.map((sent) => sharedSize(sent, blocks, sizes)))
    if (this.#added++ % listsPerGeneration === 0) this.#generations = [new Map(), this.#generations[0]]
    let node = this.#generations[0]
    for (const block of blocks) {
      const next = node.get(block) ?? new Map()
      node.set(block, next)
      node = next
    }
    return found
  }
}

function sharedSize(sent: Sent, blocks: readonly string[], sizes: readonly number[]): number {
  let [node, size]: [Sent | undefined, number] = [sent, 0]
  for (let i = 0; i < blocks.length; i++) {
    node = node.get(blocks[i]!)
    if (node === undefined) return size
    size += sizes[i]!
  }
  return size
}
