import type { Span } from '../json/json-spans.ts'
import type { ContextSlot, PromptContext } from '../prompt/body/prompt-context.ts'

/** A stretch of a prompt's texts. */
export interface Piece extends Span {
  /** index among the texts */
  readonly text: number
  /** the part that identifies it at any place; undefined: all of it */
  readonly content?: Span
}

/** A prompt as a trace has it: blocks that may be moved, and the pieces before and after them. */
export interface PromptPieces {
  readonly front: readonly Piece[]
  readonly blocks: readonly Piece[]
  readonly rest: readonly Piece[]
}

/**
 * Cuts a prompt, given by the indices of its texts, at the blocks of its last list; what separates two blocks belongs
 * to one of them. Without a list everything is front. Every character is in exactly one piece.
 */
export function cutPrompt(
  texts: readonly string[],
  places: readonly number[],
  contexts: readonly PromptContext[],
): PromptPieces {
  const own = contexts.filter(({ isResult, slots }) => !isResult && slots.every(({ text }) => places.includes(text)))
  const slots = (own.at(-1)?.slots ?? []).toSorted(
    (a, b) => places.indexOf(a.text) - places.indexOf(b.text) || a.start - b.start,
  )
  const pieces = { front: [] as Piece[], blocks: [] as Piece[], rest: [] as Piece[] }
  let at = 0
  for (const text of places) {
    const length = texts[text]!.length
    let start = 0
    for (; slots[at]?.text === text; at++) {
      const slot = slots[at]!
      if (at === 0) add(pieces.front, { text, start, end: slot.start })
      const end = endOf(slot, slots[at + 1])
      add(pieces.blocks, { text, start: at === 0 ? slot.start : start, end, content: slot.content })
      start = end
    }
    add(at === 0 ? pieces.front : pieces.rest, { text, start, end: length })
  }
  return pieces
}

/** What separates two blocks belongs to the first of them. */
function endOf(slot: ContextSlot, next: ContextSlot | undefined): number {
  return next?.text === slot.text ? next.start : slot.end
}

function add(pieces: Piece[], piece: Piece): void {
  if (piece.end > piece.start) pieces.push(piece)
}
