import type { SentContext, SharedContext, SharedPrompt } from '../cache-event.ts'
import { BlockTable, type SharedBlocks } from '../columns/block-table.ts'
import { WholeColumn } from '../columns/number-column.ts'
import { toPrefixSymbol } from '../columns/prefix-symbol.ts'
import type { BlockId, ScopeId } from '../context-block.ts'

/** What stands where a prefix ends: a scope begins (its number, negative, less one), a block ends (its number and one), or 0. */
type Mark = number

/** Where the contexts of prompts lie among their prefixes: by place, a prefix each, where it ends and what stands there. */
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
   * Marks the prefixes of a prompt from the one at `known` on, which lie at these places; returns whether what stands at all
   * of them tells of the prompt as it was sent, sizes aside.
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

  /** Lets go of what stands at some places. */
  drop(start: number, length: number): void {
    for (let place = start; place < start + length; place++) {
      const mark: Mark = this.marks.at(place)
      if (mark > 0) this.#blocks.release(mark - 1)
      if (mark < 0) this.#scopes.release(-mark - 1)
    }
  }

  /** The contexts of a prompt whose prefixes lie at these places. */
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

  /** The scope of a mark that is negative. */
  scopeOf(mark: Mark): ScopeId {
    return this.#scopes.idOf(-mark - 1)
  }

  /** Whether so many of the places are marked, and the prefixes end where these do. */
  #isAll(places: readonly number[], ends: readonly number[], marked: number): boolean {
    let count = 0
    for (let at = 0; at < places.length; at++) {
      if (this.ends.at(places[at]!) !== ends[at]) return false
      if (this.marks.at(places[at]!) !== 0) count += 1
    }
    return count === marked
  }

  /** Whether a scope begins there from now on. */
  #putScope({ scope }: SharedContext, place: number | undefined, isNew: boolean): boolean {
    if (place === undefined) return false
    const mark: Mark = this.marks.at(place)
    if (isNew && mark === 0) this.marks.set(place, -this.#scopes.acquire(scope) - 1)
    return isNew ? mark === 0 : mark < 0 && this.scopeOf(mark) === scope
  }

  /** Whether a block ends there from now on; its use is that place's, or given back. */
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
