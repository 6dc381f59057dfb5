import { BlockTable } from './block-table.ts'
import type { SentContext, SentPrompt } from './cache-event.ts'
import type { BlockId, ScopeId } from './context-block.ts'
import { type NumberColumn, wholeColumn } from './number-column.ts'
import { toPrefixSymbol } from './prefix-symbol.ts'

/** What stands where a prefix ends: a scope begins (its number, negative, less one), a block ends (its number and one), or 0. */
type Mark = number

/** Where the contexts of prompts lie among their prefixes: by place, a prefix each, where it ends and what stands there. */
export class PromptMarks {
  readonly ends: NumberColumn = wholeColumn()
  readonly marks: NumberColumn = wholeColumn()
  readonly #blocks = new BlockTable()
  readonly #scopes = new BlockTable<ScopeId>()
  /** by block: its size in characters */
  readonly #sizes: number[] = []

  /** An estimate of the memory it takes besides the columns. */
  get bytes(): number {
    return this.#blocks.size * bytesPerBlock
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
      if (mark > 0 && this.#blocks.release(mark - 1)) this.#sizes[mark - 1] = none
      if (mark < 0) this.#scopes.release(-mark - 1)
    }
  }

  /** The contexts of a prompt whose prefixes lie at these places. */
  contextsAt(places: readonly number[]): SentContext[] {
    const contexts: { scope: ScopeId; blocks: BlockId[]; sizes: number[]; ends: number[] }[] = []
    for (const place of places) {
      const mark: Mark = this.marks.array[place]!
      if (mark < 0) contexts.push({ scope: this.scopeOf(mark), blocks: [], sizes: [], ends: [] })
      const context = mark > 0 ? contexts.at(-1) : undefined
      if (!context) continue
      context.blocks.push(this.#blocks.idOf(mark - 1))
      context.sizes.push(this.#sizes[mark - 1]!)
      context.ends.push(this.ends.array[place]!)
    }
    return contexts
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
        put(at, () => this.#acquireBlock(context, i) + 1)
      }
      at += 1
    }
    return marks
  }

  #acquireBlock({ blocks, sizes }: SentContext, i: number): number {
    const block = this.#blocks.acquire(blocks[i]!)
    // as the first has it: one content has one size, but for how it is numbered
    if ((this.#sizes[block] ?? none) === none) this.#sizes[block] = sizes[i]!
    return block
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

const none = -1
/** of the table of blocks; measured with 22 characters a block */
const bytesPerBlock = 130
