import type { RequestId } from '../../context-block.ts'
import { hashWord } from '../../hotness/murmur-hash.ts'

/** A piece of a prompt that starts where the one before it ends. */
export interface Piece {
  /** symbol of the prefix that ends with it */
  readonly symbol: number
  /** where it ends, in characters from the prompt's start */
  readonly end: number
}

/** Consecutive pieces that an engine keeps and evicts as one node of its tree. Children begin with different pieces. */
export class PrefixRun {
  parent: PrefixRun | undefined
  pieces: Piece[]
  readonly start: number
  readonly children: Map<number, PrefixRun> = new Map()
  /** the requests whose held prefix ends here */
  requests: Set<RequestId> = new Set()
  /** how often requests have used it since it was computed, and the last use */
  uses = 0
  lastUse = 0

  constructor(parent: PrefixRun | undefined, start: number, pieces: Piece[]) {
    this.parent = parent
    this.start = start
    this.pieces = pieces
  }

  get end(): number {
    return this.pieces.at(-1)?.end ?? this.start
  }

  get length(): number {
    return this.end - this.start
  }

  /** The key of its heat: its first piece and its start. */
  get name(): number {
    return nameOf(this.pieces[0]!.symbol, this.start)
  }

  /** Returns the runs from this one up to the root, without the root. */
  path(): PrefixRun[] {
    const path: PrefixRun[] = []
    for (let run: PrefixRun = this; run.parent; run = run.parent) path.push(run)
    return path
  }

  /** Follows a prompt from here. Returns the last matching run, how many of its `pieces` match and where they `end`. */
  walk(prompt: readonly Piece[]): { run: PrefixRun; end: number; pieces: number } {
    let run: PrefixRun = this
    let at = 0
    for (;;) {
      while (at < prompt.length && prompt[at]!.end <= run.end) at += 1
      const next = at < prompt.length ? run.children.get(prompt[at]!.symbol) : undefined
      if (!next) return { run, end: run.end, pieces: run.pieces.length }
      const shared = next.#sharedWith(prompt, at)
      if (shared < next.pieces.length) return { run: next, end: next.pieces[shared - 1]!.end, pieces: shared }
      run = next
    }
  }

  /** Adds the rest of a prompt as a child. */
  extend(prompt: readonly Piece[]): PrefixRun {
    const child = new PrefixRun(
      this,
      this.end,
      prompt.filter(({ end }) => end > this.end),
    )
    this.children.set(child.pieces[0]!.symbol, child)
    return child
  }

  /**
   * Keeps the first `pieces` and moves the rest, with the requests and children, to a new child. Returns that child.
   */
  split(pieces: number): PrefixRun {
    const tail = new PrefixRun(this, this.pieces[pieces - 1]!.end, this.pieces.slice(pieces))
    this.pieces = this.pieces.slice(0, pieces)
    for (const [symbol, child] of this.children) {
      child.parent = tail
      tail.children.set(symbol, child)
    }
    this.children.clear()
    this.children.set(tail.pieces[0]!.symbol, tail)
    tail.requests = this.requests
    this.requests = new Set()
    tail.uses = this.uses
    tail.lastUse = this.lastUse
    return tail
  }

  /** Cuts the run at `end`. Returns the symbol of the piece that is cut, or of the first piece after `end`. */
  shorten(end: number): number {
    const whole = this.pieces.filter((piece) => piece.end <= end)
    const { symbol } = this.pieces[whole.length]!
    if ((whole.at(-1)?.end ?? this.start) < end) whole.push({ symbol, end })
    this.pieces = whole
    return symbol
  }

  /** Removes this leaf from the tree. */
  remove(): void {
    this.parent!.children.delete(this.pieces[0]!.symbol)
  }

  #sharedWith(prompt: readonly Piece[], at: number): number {
    let shared = 0
    while (shared < this.pieces.length && at + shared < prompt.length) {
      const [own, other] = [this.pieces[shared]!, prompt[at + shared]!]
      if (own.symbol !== other.symbol) break
      shared += 1
      // only a last piece that was cut can differ here; the rest of the prompt becomes its child
      if (own.end !== other.end) break
    }
    return shared
  }
}

/** Returns the heat key of a run that starts at `start` with the piece of this symbol. */
export function nameOf(symbol: number, start: number): number {
  return hashWord((symbol ^ hashWord(start)) >>> 0)
}
