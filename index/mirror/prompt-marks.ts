import type { MirroredPrompt } from '../cache-event.ts'
import { BlockTable, type SharedBlocks } from '../columns/block-table.ts'
import { WholeColumn } from '../columns/number-column.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import type { ScopeId } from '../context-block.ts'

/** What is at the end of a prefix: −number − 1 if a scope begins, number + 1 if a block ends, otherwise 0. */
type Mark = number

/** Locates the contexts of prompts among their prefixes: each prefix has a place, with its end and its mark. */
export class PromptMarks {
  readonly ends: WholeColumn = new WholeColumn()
  readonly marks: WholeColumn = new WholeColumn()
  readonly #blocks: SharedBlocks
  readonly #scopes = new BlockTable<ScopeId>()

  constructor(blocks: SharedBlocks) {
    this.#blocks = blocks
  }

  /** Marks the prefixes of a prompt, at the given places, from index `known` on. `blocks`: the numbers of its blocks. */
  put(
    { symbols, ends, contexts }: MirroredPrompt,
    blocks: readonly (readonly number[])[],
    known: number,
    places: readonly number[],
  ): void {
    for (let at = known; at < places.length; at++) {
      this.ends.set(places[at]!, ends[at]!)
      this.marks.set(places[at]!, 0)
    }
    let at = 0
    for (const [i, context] of contexts.entries()) {
      const symbol = toPrefixSymbol(context.scope)
      while (at < places.length && symbols[at] !== symbol) at++
      const scope = this.#scopes.acquire(context.scope)
      if (!this.#mark(places[at], at >= known, -scope - 1)) this.#scopes.release(scope)
      for (const [k, block] of blocks[i]!.entries()) {
        at = indexOfEnd(ends, context.ends[k]!, at + 1)
        if (this.#mark(places[at], at >= known, block + 1)) this.#blocks.retain(block)
      }
      at += 1
    }
  }

  /** Releases the blocks and scopes marked at a range of places. */
  drop(start: number, length: number): void {
    for (let place = start; place < start + length; place++) {
      const mark: Mark = this.marks.at(place)
      if (mark > 0) this.#blocks.release(mark - 1)
      if (mark < 0) this.#scopes.release(-mark - 1)
    }
  }

  /** Returns the scope of a negative mark. */
  scopeOf(mark: Mark): ScopeId {
    return this.#scopes.idOf(-mark - 1)
  }

  /** Marks a new place that has no mark yet. Returns whether it did. */
  #mark(place: number | undefined, isNew: boolean, mark: Mark): boolean {
    if (!isNew || place === undefined || this.marks.at(place) !== 0) return false
    this.marks.set(place, mark)
    return true
  }
}

/** Returns the first index, from `from` on, of an end that is not before `end`. */
function indexOfEnd(ends: readonly number[], end: number, from: number): number {
  let at = from
  while (at < ends.length && ends[at]! < end) at++
  return at
}
