import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { BlockId } from '#index/context-block.ts'

const mostEnds = 1_024
/** Words behind so many different last blocks are none of theirs. */
const fewestBlocks = 3

/** What stood between lists and questions, and behind which last blocks. */
export class KnownEnds {
  readonly #blocks = new LRUCache<string, ReadonlySet<BlockId>>({ max: mostEnds })

  /** Whether the words stood behind several different blocks, so that they are the prompt's. */
  isConstant(scope: string, words: string): boolean {
    return (this.#blocks.get(keyOf(scope, words))?.size ?? 0) >= fewestBlocks
  }

  note(scope: string, words: string, last: BlockId): void {
    const key = keyOf(scope, words)
    const known = this.#blocks.peek(key) ?? new Set()
    if (known.size < fewestBlocks) this.#blocks.set(key, new Set([...known, last]))
  }
}

function keyOf(scope: string, words: string): string {
  return createHash('sha256').update(`${scope}\0${words}`).digest('base64url')
}
