import { LRUCache } from 'lru-cache'
import { keysOf } from './text-keys.ts'

/** Texts that begin alike which are offered: all of the first, then one in eight, then one in 64. */
const stages = [
  { upTo: 64, every: 1 },
  { upTo: 512, every: 8 },
  { upTo: Number.POSITIVE_INFINITY, every: 64 },
] as const
const mostKeys = 1_024

/** Backs off from texts that never become a template. */
export class OfferedTexts {
  /** Texts that begin alike. */
  readonly #counts = new LRUCache<string, number>({ max: mostKeys })

  /** Whether this text is worth learning from. */
  isDue(place: string, text: string): boolean {
    const key = keysOf(place, text)[1]!
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    return count % stages.find(({ upTo }) => count <= upTo)!.every === 0
  }

  /** Begins anew: a template was learnt, and what it refuses is to be learnt from again. */
  forget(): void {
    this.#counts.clear()
  }
}
