import { LRUCache } from 'lru-cache'
import { type BlockId, digestOf } from '#index/context-block.ts'

/** Those that were used least recently are forgotten first. */
const mostEnds = 1_024
/** Words behind so many different last blocks are none of theirs. */
const fewestBlocks = 3

/** What stood between lists and questions, and behind which last blocks. */
export class KnownEnds {
  readonly #blocks = new LRUCache<string, ReadonlySet<BlockId>>({ max: mostEnds })

  /** Whether the words stood behind several different blocks, so that they are the prompt's. */
  isConstant(scope: string, words: string): boolean {
    return (this.#blocks.get(digestOf(`${scope}\0${words}`))?.size ?? 0) >= fewestBlocks
  }

  note(scope: string, words: string, last: BlockId): void {
    const key = digestOf(`${scope}\0${words}`)
    const known = this.#blocks.peek(key) ?? new Set()
    if (known.size < fewestBlocks) this.#blocks.set(key, new Set([...known, last]))
  }
}
