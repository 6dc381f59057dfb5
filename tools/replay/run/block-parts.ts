import type { TraceBlock } from '../trace/trace-block.ts'

/** A part of a block that is the same wherever its key is. */
export interface Part {
  readonly key: string
  readonly tokens: number
}

/** The parts of a block, with their sum. */
interface Parts {
  readonly parts: readonly Part[]
  readonly tokens: number
}

/**
 * Divides the blocks of a trace into their stretches. A stretch has as many tokens everywhere as at its first place, so
 * that blocks that begin alike share tokens; a block's sum may thus differ slightly from its own count.
 */
export class BlockParts {
  readonly #sizes = new Map<string, number>()
  readonly #known = new Map<string, Parts>()

  /** Returns the parts of a block; one, if its stretches are not known. */
  of(block: TraceBlock): Parts {
    const known = this.#known.get(block.key)
    if (known) return known
    const parts = this.#divide(block)
    const divided = { parts, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) }
    this.#known.set(block.key, divided)
    return divided
  }

  #divide({ key, tokens, stretches }: TraceBlock): Part[] {
    if (!stretches) return [{ key, tokens }]
    const characters = stretches.reduce((sum, stretch) => sum + stretch.characters, 0)
    let [end, before] = [0, 0]
    return stretches.map((stretch) => {
      before += stretch.characters
      const start = end
      end = Math.round((tokens * before) / characters)
      // no block has this key, because their keys are JSON
      const own = `stretch ${stretch.key}`
      const size = this.#sizes.get(own) ?? end - start
      this.#sizes.set(own, size)
      return { key: own, tokens: size }
    })
  }
}
