import { BlockTable, type SharedBlocks } from './block-table.ts'
import type { SentContext, SentPrompt } from './cache-event.ts'
import type { Context, ScopeId } from './context-block.ts'
import { type NumberColumn, wholeColumn } from './number-column.ts'
import { toPrefixSymbol } from './prefix-symbol.ts'

/** What stands where a prefix ends: a scope begins (its number, negative, less one), a block ends (its number and one), or 0. */
type Mark = number

/** A context that was sent, its blocks by number. */
export interface NumberedContext {
  readonly scope: ScopeId
  readonly blocks: readonly number[]
  /** characters of the prompt up to the end of each block */
  readonly ends: readonly number[]
}

/** Where the contexts of prompts lie among their prefixes: by place, a prefix each, where it ends and what stands there. */
export class PromptMarks {
  readonly ends: NumberColumn = wholeColumn()
  readonly marks: NumberColumn = wholeColumn()
  readonly #blocks: SharedBlocks
  readonly #scopes = new BlockTable<ScopeId>()

  constructor(blocks: SharedBlocks) {
    this.#blocks = blocks
  }

  /** Marks the prefixes of a prompt from the one at `known` on, at as many places from `start` on. */
  put({ ends, contexts }: SentPrompt, symbols: readonly number[], known: number, start: number): void {
    const marks = known < symbols.length ? this.#acquire(symbols, ends, contexts, known) : []
    for (const [i, mark] of marks.entries()) {
      this.ends.array[start + i] = ends[known + i]!
      this.marks.array[start + i] = mark
    }
  }

  /** Lets go of what stands at some places. */
  drop(start: number, length: number): void {
    for (let place = start; place < start + length; place++) {
      const mark: Mark = this.marks.array[place]!
      if (mark > 0) this.#blocks.release(mark - 1)
      if (mark < 0) this.#scopes.release(-mark - 1)
    }
  }

  /** Which blocks of each scope lie at these places, by number, and where each ends. */
  numbersAt(places: readonly number[]): NumberedContext[] {
    const contexts: { scope: ScopeId; blocks: number[]; ends: number[] }[] = []
    for (const place of places) {
      const mark: Mark = this.marks.array[place]!
      if (mark < 0) contexts.push({ scope: this.scopeOf(mark), blocks: [], ends: [] })
      const context = mark > 0 ? contexts.at(-1) : undefined
      context?.blocks.push(mark - 1)
      context?.ends.push(this.ends.array[place]!)
    }
    return contexts
  }

  /** The contexts of a prompt whose prefixes lie at these places. */
  contextsAt(places: readonly number[]): SentContext[] {
    return this.numbersAt(places).map(({ scope, blocks, ends }) => ({
      scope,
      blocks: blocks.map((block) => this.#blocks.idOf(block)) as unknown as Context,
      sizes: blocks.map((block) => this.#blocks.sizes[block]!),
      ends,
    }))
  }

  /** Whether that is how a prompt was sent, its sizes aside. */
  areOf(places: readonly number[], { contexts, ends }: SentPrompt): boolean {
    if (places.length !== ends.length || places.some((place, i) => this.ends.array[place] !== ends[i])) return false
    const marked = places.filter((place) => this.marks.array[place] !== 0)
    let next = 0
    for (const context of contexts) {
      if (!this.#isScope(marked[next++], context)) return false
      for (let i = 0; i < context.blocks.length; i++) if (!this.#isBlock(marked[next++], context, i)) return false
    }
    return next === marked.length
  }

  /** The scope of a mark that is negative. */
  scopeOf(mark: Mark): ScopeId {
    return this.#scopes.idOf(-mark - 1)
  }

  /** What stands where the prefixes from `known` on end; contexts that no prefixes tell of are left out. */
  #acquire(
    symbols: readonly number[],
    ends: readonly number[],
    contexts: readonly SentContext[],
    known: number,
  ): Mark[] {
    const marks = new Array<Mark>(symbols.length - known).fill(0)
    const put = (at: number, acquire: () => Mark): void => {
      if (at >= known && at < symbols.length) marks[at - known] = acquire()
    }
    let at = 0
    for (const context of contexts) {
      const scope = toPrefixSymbol(context.scope)
      at = firstFrom(at, symbols.length, (place) => symbols[place] === scope)
      put(at, () => -this.#scopes.acquire(context.scope) - 1)
      for (let i = 0; i < context.blocks.length; i++) {
        at = firstFrom(at + 1, symbols.length, (place) => ends[place]! >= context.ends[i]!)
        put(at, () => this.#blocks.acquireSized(context.blocks[i]!, context.sizes[i]!) + 1)
      }
      at += 1
    }
    return marks
  }

  #isScope(place: number | undefined, { scope }: SentContext): boolean {
    const mark: Mark = place === undefined ? 0 : this.marks.array[place]!
    return mark < 0 && this.scopeOf(mark) === scope
  }

  #isBlock(place: number | undefined, { blocks, ends }: SentContext, i: number): boolean {
    if (place === undefined || this.ends.array[place] !== ends[i]) return false
    const mark: Mark = this.marks.array[place]!
    return mark > 0 && this.#blocks.idOf(mark - 1) === blocks[i]
  }
}

/** The first place of those from `from` on of which something is so; `end` when it is of none. */
function firstFrom(from: number, end: number, isSo: (place: number) => boolean): number {
  let place = from
  while (place < end && !isSo(place)) place++
  return place
}
