import { LRUCache } from 'lru-cache'
import type { SentPrompt } from '#index/cache-event.ts'

/** Blocks and prefixes remembered: about 40 MB. */
const defaultCapacity = 1 << 18

/**
 * Remembers what was sent before, at any position: how much of a prompt it knows is the bound of what any order could
 * have an engine reuse. Tenants never meet. Bounded; what was not seen for longest is forgotten.
 */
export class SeenBlocks {
  readonly #seen: LRUCache<string, true>

  constructor(capacity: number = defaultCapacity) {
    this.#seen = new LRUCache({ max: capacity })
  }

  /** So many of the prompt's characters were sent before: its longest known prefix, and the known blocks behind it. */
  note(tenant: string, prompt: SentPrompt): number {
    const known = prompt.prefixes.map((prefix) => this.#note(prefix))
    const unknown = known.indexOf(false)
    const prefix = (unknown < 0 ? prompt.ends.at(-1) : prompt.ends[unknown - 1]) ?? 0
    let seen = prefix
    for (const { blocks, sizes, ends } of prompt.contexts) {
      blocks.forEach((block, i) => {
        const isKnown = this.#note(`${tenant} ${block}`)
        if (isKnown && ends[i]! > prefix) seen += sizes[i]!
      })
    }
    return seen
  }

  #note(key: string): boolean {
    if (this.#seen.get(key)) return true
    this.#seen.set(key, true)
    return false
  }
}
