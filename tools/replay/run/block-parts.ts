import { getOrMake } from '#index/get-or-make.ts'
import type { TraceBlock } from '../trace/trace-block.ts'

/** A part of a block that is the same wherever its key is. */
export interface Part {
  readonly key: string
  readonly tokens: number
}

/**
 * Divides the blocks of a trace into their stretches. A stretch has as many tokens everywhere as at its first place, so
 * that blocks that begin alike share tokens; a block's sum may thus differ slightly from its own count.
 */
export class BlockParts {
  readonly #sizes = new Map<string, number>()
  readonly #known = new Map<string, readonly Part[]>()

  /** Returns the parts of a block; one, if its stretches are not known. */
  of(block: TraceBlock): readonly Part[] {
    return getOrMake(this.#known, block.key, () => this.#divide(block))
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
