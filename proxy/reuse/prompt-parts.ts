import type { BlockId } from '#index/context-block.ts'
import type { Span } from '../common/json/json-spans.ts'
import { type HeldSlot, type PromptContext, slotsByText } from '../prompt/body/prompt-context.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'
import { findIndexFrom } from '../prompt/scan/find-edges.ts'

/** A part of a prompt: the content of a block, or what stands between blocks. */
export interface PromptPart {
  readonly text: string
  /** equal blocks have equal text; undefined if it is none */
  readonly block: BlockId | undefined
}

interface HeldBlock extends Span {
  readonly block: BlockId
}

/** Takes texts apart into blocks, which are known by their identities without being read again, and the rest. */
export class PromptParts {
  readonly #texts: readonly string[]
  /** by text: its blocks in order */
  readonly #blocks: ReadonlyMap<number, readonly HeldBlock[]>
  readonly #received: (readonly PromptPart[])[] = []

  /** `contexts` were found in `texts`. */
  constructor(texts: readonly string[], contexts: readonly PromptContext[]) {
    this.#texts = texts
    this.#blocks = new Map([...slotsByText(contexts)].map(([place, slots]) => [place, toBlocks(slots)]))
  }

  /** Returns the parts of a text as received. */
  received(place: number): readonly PromptPart[] {
    this.#received[place] ??= this.#cut(place, 0, this.#texts[place]!.length)
    return this.#received[place]
  }

  /** Returns the parts of a text as `splices`, which are in order and do not overlap, make it. */
  rewritten(place: number, splices: readonly TextSplice[]): PromptPart[] {
    let at = 0
    const parts = splices.flatMap(({ start, end, pieces }) => {
      const before = this.#cut(place, at, start)
      at = end
      const written = pieces.flatMap((piece) =>
        typeof piece === 'string' ? { text: piece, block: undefined } : this.#cut(piece.text, piece.start, piece.end),
      )
      return [...before, ...written]
    })
    return [...parts, ...this.#cut(place, at, this.#texts[place]!.length)]
  }

  #cut(place: number, start: number, end: number): PromptPart[] {
    const [text, blocks] = [this.#texts[place]!, this.#blocks.get(place) ?? []]
    const parts: PromptPart[] = []
    let at = start
    for (let i = findIndexFrom(blocks, start); i < blocks.length && blocks[i]!.end <= end; i++) {
      const { start: from, end: to, block } = blocks[i]!
      if (at < from) parts.push({ text: text.slice(at, from), block: undefined })
      parts.push({ text: text.slice(from, to), block })
      at = to
    }
    if (at < end) parts.push({ text: text.slice(at, end), block: undefined })
    return parts
  }
}

/** Returns the blocks among these slots in order, but for those whose label is part of their content and may change. */
function toBlocks(slots: readonly HeldSlot[]): HeldBlock[] {
  return slots
    .filter(({ slot: { content, label } }) => !label || label.end <= content.start || label.start >= content.end)
    .map(({ slot: { content }, content: block }) => ({ start: content.start, end: content.end, block }))
    .sort((a, b) => a.start - b.start)
}
