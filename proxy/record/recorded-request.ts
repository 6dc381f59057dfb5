import type { Span } from '../common/json/json-spans.ts'
import type { ContextSlot, PromptContext } from '../prompt/body/prompt-context.ts'

/** A stretch of a prompt's texts. */
export interface Piece extends Span {
  /** index among the texts */
  readonly text: number
}

/** A prompt as a trace has it: blocks that may be moved, and the pieces before and after their list. */
interface PromptPieces {
  readonly front: readonly Piece[]
  /** the contents of the blocks, which identify them at any place */
  readonly blocks: readonly Piece[]
  readonly rest: readonly Piece[]
  readonly list: PlacedPieces
}

/** Everything between the front and the rest. */
export interface PlacedPieces {
  /** by block: its pieces, in order; undefined: the label of its place goes here */
  readonly blocks: readonly (readonly (Piece | undefined)[])[]
  /** by place; empty if labels move with their blocks */
  readonly labels: readonly Piece[]
  /** for each place except the last: what is between it and the next one */
  readonly gaps: readonly (readonly Piece[])[]
}

/** Finds the list of a prompt, given by the indices of its texts, whose blocks may be moved: its last one. */
export function findLastList<Context extends { readonly found: PromptContext }>(
  places: readonly number[],
  contexts: readonly Context[],
): Context | undefined {
  return contexts.findLast(({ found: { isResult, slots } }) => {
    return !isResult && slots.every(({ text }) => places.includes(text))
  })
}

/** Cuts a prompt at the blocks of a list. Without one everything is front. Every character is in exactly one piece. */
export function cutPrompt(
  texts: readonly string[],
  places: readonly number[],
  list: PromptContext | undefined,
): PromptPieces {
  const slots = (list?.slots ?? []).toSorted(
    (a, b) => places.indexOf(a.text) - places.indexOf(b.text) || a.start - b.start,
  )
  const positional = list?.positional ?? false
  const ends = slots.map(({ text, end }) => ({ text, offset: end }))
  const starts = slots.map(({ text, start }) => ({ text, offset: start }))
  const between = (from: Position | undefined, to: Position | undefined): Piece[] =>
    piecesBetween(texts, places, from, to)
  return {
    front: between(undefined, starts[0]),
    blocks: slots.map(({ text, content }) => ({ text, ...content })),
    rest: slots.length > 0 ? between(ends.at(-1), undefined) : [],
    list: {
      blocks: slots.map((slot) => cutSlot(slot, positional)),
      labels: positional ? slots.map(({ text, label }) => ({ text, ...label! })) : [],
      gaps: starts.slice(1).map((start, place) => between(ends[place], start)),
    },
  }
}

interface Position {
  readonly text: number
  readonly offset: number
}

/** Without positions: from the beginning of the first text to the end of the last. */
function piecesBetween(
  texts: readonly string[],
  places: readonly number[],
  from: Position | undefined,
  to: Position | undefined,
): Piece[] {
  const first = from ? places.indexOf(from.text) : 0
  const last = to ? places.indexOf(to.text) : places.length - 1
  return places.slice(first, last + 1).flatMap((text) => {
    const start = text === from?.text ? from.offset : 0
    const end = text === to?.text ? to.offset : texts[text]!.length
    return end > start ? [{ text, start, end }] : []
  })
}

function cutSlot({ text, start, end, content, label }: ContextSlot, positional: boolean): (Piece | undefined)[] {
  const own = positional ? label : undefined
  const borders = [start, content.start, content.end, end, ...(own ? [own.start, own.end] : [])]
  const cuts = [...new Set(borders)].sort((a, b) => a - b)
  return cuts.slice(1).map((to, i) => (own && to === own.end ? undefined : { text, start: cuts[i]!, end: to }))
}
