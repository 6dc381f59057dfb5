import type { SentContext, SharedContext, SharedPrompt } from '../cache-event.ts'
import { BlockTable, type SharedBlocks } from '../columns/block-table.ts'
import { WholeColumn } from '../columns/number-column.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import type { BlockId, ScopeId } from '../context-block.ts'

/** What is at the end of a prefix: −number − 1 if a scope begins, number + 1 if a block ends, otherwise 0. */
type Mark = number

/** Locates the contexts of prompts among their prefixes: each prefix has a place, with its end and its mark. */
export class PromptMarks {
  readonly ends: WholeColumn = new WholeColumn()
  readonly marks: WholeColumn = new WholeColumn()
  readonly #blocks: SharedBlocks
  readonly #scopes: BlockTable<ScopeId>

  constructor(blocks: SharedBlocks) {
    this.#blocks = blocks
    this.#scopes = new BlockTable(blocks.secret)
  }

  /**
   * Marks the prefixes of a prompt, at the given places, from index `known` on. Returns whether the marks at all places
   * reproduce the prompt as it was sent, apart from block sizes.
   */
  put({ symbols, ends, contexts }: SharedPrompt, known: number, places: readonly number[]): boolean {
    for (let at = known; at < places.length; at++) {
      this.ends.set(places[at]!, ends[at]!)
      this.marks.set(places[at]!, 0)
    }
    let isTold = true
    let at = 0
    let marked = 0
    for (const context of contexts) {
      const scope = toPrefixSymbol(context.scope)
      while (at < places.length && symbols[at] !== scope) at++
      isTold = this.#putScope(context, places[at], at >= known) && isTold
      marked += 1 + context.blocks.length
      const blocks = this.#blocks.acquireAll(context.blocks, context.sizes)
      for (let i = 0; i < blocks.length; i++) {
        at += 1
        while (at < places.length && ends[at]! < context.ends[i]!) at++
        isTold = this.#putBlock(blocks[i]!, places[at], at >= known) && isTold
        isTold = isTold && this.ends.at(places[at]!) === context.ends[i]
      }
      at += 1
    }
    return isTold && this.#isAll(places, ends, marked)
  }

  /** Releases the blocks and scopes marked at a range of places. */
  drop(start: number, length: number): void {
    for (let place = start; place < start + length; place++) {
      const mark: Mark = this.marks.at(place)
      if (mark > 0) this.#blocks.release(mark - 1)
      if (mark < 0) this.#scopes.release(-mark - 1)
    }
  }

  /** Reads the contexts of a prompt from the places of its prefixes. */
  contextsAt(places: readonly number[]): SentContext[] {
    const contexts: { scope: ScopeId; blocks: BlockId[]; sizes: number[]; ends: number[] }[] = []
    for (const place of places) {
      const mark: Mark = this.marks.at(place)
      if (mark < 0) contexts.push({ scope: this.scopeOf(mark), blocks: [], sizes: [], ends: [] })
      const context = mark > 0 ? contexts.at(-1) : undefined
      context?.blocks.push(this.#blocks.idOf(mark - 1))
      context?.sizes.push(this.#blocks.sizes[mark - 1]!)
      context?.ends.push(this.ends.at(place))
    }
    return contexts
  }

  /** Returns the scope of a negative mark. */
  scopeOf(mark: Mark): ScopeId {
    return this.#scopes.idOf(-mark - 1)
  }

  /** Returns whether exactly `marked` places have marks and all ends match. */
  #isAll(places: readonly number[], ends: readonly number[], marked: number): boolean {
    let count = 0
    for (let at = 0; at < places.length; at++) {
      if (this.ends.at(places[at]!) !== ends[at]) return false
      if (this.marks.at(places[at]!) !== 0) count += 1
    }
    return count === marked
  }

  /** Marks the beginning of a scope if the place is new. Returns whether the place now marks that scope. */
  #putScope({ scope }: SharedContext, place: number | undefined, isNew: boolean): boolean {
    if (place === undefined) return false
    const mark: Mark = this.marks.at(place)
    if (isNew && mark === 0) this.marks.set(place, -this.#scopes.acquire(scope) - 1)
    return isNew ? mark === 0 : mark < 0 && this.scopeOf(mark) === scope
  }

  /**
   * Marks the end of a block if the place is new; otherwise releases it. Returns whether the place marks that block.
   */
  #putBlock(block: number, place: number | undefined, isNew: boolean): boolean {
    const mark: Mark | undefined = place === undefined ? undefined : this.marks.at(place)
    if (isNew && mark === 0) {
      this.marks.set(place!, block + 1)
      return true
    }
    this.#blocks.release(block)
    return !isNew && mark === block + 1
  }
}
