import { findIndexFrom, findLineEnd, isSpace } from './find-edges.ts'

/** A line that may open or close fenced code. */
export interface Fence {
  readonly start: number
  /** After the last character of its line. */
  readonly end: number
  readonly code: number
  readonly length: number
  /** It names no language, so it may close a fence. */
  readonly bare: boolean
}

const BACKTICK = 96

/** Reads the fence at `start`, given that its line begins with a backtick or a tilde there. */
export function readFence(text: string, start: number): Fence | undefined {
  const code = text.charCodeAt(start)
  let at = start
  while (text.charCodeAt(at) === code) at++
  const length = at - start
  if (length < 3) return undefined
  const end = findLineEnd(text, at)
  let bare = true
  for (; at < end; at++) {
    // ```like this``` is inline code that happens to begin a line
    if (code === BACKTICK && text.charCodeAt(at) === BACKTICK) return undefined
    bare &&= isSpace(text.charCodeAt(at))
  }
  return { start, end, code, length, bare }
}

/** Whether a fence closes another one. */
export function closes(fence: Fence, open: Fence): boolean {
  return fence.bare && fence.code === open.code && fence.length >= open.length
}

/** Skips fenced code in a region that is walked from beginning to end. */
export class FenceWalk {
  readonly #fences: readonly Fence[]
  #next: number

  constructor(fences: readonly Fence[], from: number) {
    this.#fences = fences
    this.#next = findIndexFrom(fences, from)
  }

  /**
   * Returns `target`, or the end of the fenced code around it that opens at or after `from`. An unclosed fence ends at
   * `limit`.
   */
  pass(from: number, target: number, limit: number): number {
    let outside = from
    for (;;) {
      const fence = this.#fences[this.#next]
      if (fence === undefined || fence.start >= target) return target
      this.#next++
      if (fence.start < outside) continue
      outside = this.#findClosing(fence, limit)
      if (outside > target) return outside
    }
  }

  #findClosing(open: Fence, limit: number): number {
    for (;;) {
      const fence = this.#fences[this.#next]
      if (fence === undefined || fence.start >= limit) return limit
      this.#next++
      if (closes(fence, open)) return fence.end
    }
  }
}
