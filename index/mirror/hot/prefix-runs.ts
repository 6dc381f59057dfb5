import type { RequestId } from '../../context-block.ts'
import { hashWord } from '../../hotness/murmur-hash.ts'

/** A piece of a prompt that starts where the one before it ends. */
export interface Piece {
  /** of the prefix that ends with it */
  readonly symbol: number
  /** where it ends, in characters from the prompt's start */
  readonly end: number
}

/** Pieces in a row that an engine keeps, and evicts, as one node of its tree; children begin differently. */
export class PrefixRun {
  parent: PrefixRun | undefined
  pieces: Piece[]
  readonly start: number
  readonly children: Map<number, PrefixRun> = new Map()
  /** the requests whose prompts are held to here and no further */
  requests: Set<RequestId> = new Set()
  /** how often requests ran through it since it was computed, and when they last did */
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

  /** What its heat is known by: how it begins, and where. */
  get name(): number {
    return nameOf(this.pieces[0]!.symbol, this.start)
  }

  /** The runs from this one up to the root, without the root. */
  path(): PrefixRun[] {
    const path: PrefixRun[] = []
    for (let run: PrefixRun = this; run.parent; run = run.parent) path.push(run)
    return path
  }

  /** Follows a prompt from here: how far runs have it, and how much of the last of them (`end`, of `pieces` of its own). */
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

  /** Adds what of a prompt is not there, as a child. */
  extend(prompt: readonly Piece[]): PrefixRun {
    const child = new PrefixRun(
      this,
      this.end,
      prompt.filter(({ end }) => end > this.end),
    )
    this.children.set(child.pieces[0]!.symbol, child)
    return child
  }

  /** Puts a run with the first `pieces` in front of this one's others; requests stay at the end. Returns the rest. */
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

  /** Keeps what ends before `end`; returns the symbol of the piece that is cut, or comes first behind. */
  shorten(end: number): number {
    const whole = this.pieces.filter((piece) => piece.end <= end)
    const { symbol } = this.pieces[whole.length]!
    if ((whole.at(-1)?.end ?? this.start) < end) whole.push({ symbol, end })
    this.pieces = whole
    return symbol
  }

  /** Takes this leaf out of the tree. */
  remove(): void {
    this.parent!.children.delete(this.pieces[0]!.symbol)
  }

  #sharedWith(prompt: readonly Piece[], at: number): number {
    let shared = 0
    while (shared < this.pieces.length && at + shared < prompt.length) {
      const [own, other] = [this.pieces[shared]!, prompt[at + shared]!]
      if (own.symbol !== other.symbol) break
      shared += 1
      // its last piece was cut: what follows hangs on it
      if (own.end !== other.end) break
    }
    return shared
  }
}

/** Of a prefix that goes on from `start` with the piece of this symbol. */
export function nameOf(symbol: number, start: number): number {
  return hashWord((symbol ^ hashWord(start)) >>> 0)
}
