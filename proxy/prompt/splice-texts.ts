import type { Splice } from '../json-spans.ts'
import type { PromptText } from './prompt.ts'
import type { PromptBody } from './prompt-body.ts'
import { toRawOffsets } from './raw-offsets.ts'
import { toRaw } from './raw-text.ts'
import { type Piece, spliceText, type TextSplice } from './text-splice.ts'

/** The texts of a body as they are to be sent. */
export interface WrittenTexts {
  /** by place, explicit blocks in place */
  readonly texts: readonly string[]
  /** by place: what is changed in them, in order and not overlapping */
  readonly splices: readonly (readonly TextSplice[])[]
}

/**
 * Splices of a body's raw text that make its texts what they are to be. What moves is cut out of the raw text as the
 * client wrote it, escapes and all: to escape 240 KB again takes longer than to find them. Empty when nothing changes.
 */
export function spliceTexts(prompt: PromptBody, { texts, splices }: WrittenTexts): Splice[] {
  const received = prompt.set?.texts ?? []
  const changed = [...received.keys()].filter((i) => texts[i] !== received[i]!.text || splices[i]!.length > 0)
  if (changed.length === 0) return []
  const cutter = new RawCutter(prompt, texts, splices)
  return changed.flatMap((place) => cutter.spliceText(place))
}

/** Cuts stretches of texts out of the raw text they were read from. */
class RawCutter {
  readonly #prompt: PromptBody
  readonly #texts: readonly string[]
  readonly #splices: readonly (readonly TextSplice[])[]
  /** by place: where the characters that something begins or ends at stand; undefined where that cannot be told */
  readonly #offsets: (ReadonlyMap<number, number> | undefined)[]

  constructor(prompt: PromptBody, texts: readonly string[], splices: readonly (readonly TextSplice[])[]) {
    this.#prompt = prompt
    this.#texts = texts
    this.#splices = splices
    this.#offsets = edgesByText(texts.length, splices).map((edges, place) => this.#toRawOffsets(place, edges))
  }

  spliceText(place: number): Splice[] {
    const { raw, spans } = this.#prompt
    const { path, isRaw } = this.#textAt(place)
    const offsets = this.#offsets[place]
    if (offsets === undefined) {
      const text = spliceText(this.#texts, place, this.#splices[place]!)
      return [{ ...spans.find(path), text: toRaw(isRaw ? text : JSON.stringify(text)) }]
    }
    return this.#splices[place]!.map(({ start, end, pieces }) => ({
      start: offsets.get(start)!,
      end: offsets.get(end)!,
      text: pieces.map((piece) => this.#write(piece, isRaw)).join(''),
    })).filter(({ start, end, text }) => text.length !== end - start || text !== raw.slice(start, end))
  }

  #write(piece: Piece, isRaw: boolean): string {
    const offsets = typeof piece === 'string' ? undefined : this.#offsets[piece.text]
    if (typeof piece !== 'string' && offsets !== undefined) {
      return this.#prompt.raw.slice(offsets.get(piece.start)!, offsets.get(piece.end)!)
    }
    const text = typeof piece === 'string' ? piece : this.#texts[piece.text]!.slice(piece.start, piece.end)
    return toRaw(isRaw ? text : JSON.stringify(text).slice(1, -1))
  }

  #toRawOffsets(place: number, edges: readonly number[]): Map<number, number> | undefined {
    const { path, text, isRaw } = this.#textAt(place)
    // explicit blocks stand in no text that was received
    if (this.#texts[place] !== text) return undefined
    if (edges.length === 0) return new Map()
    const { start } = this.#prompt.spans.find(path)
    return toRawOffsets(this.#prompt.bytes, isRaw ? start : start + 1, edges, !isRaw)
  }

  #textAt(place: number): PromptText {
    return this.#prompt.set!.texts[place]!
  }
}

/** Where something begins or ends, in each text, ascending. */
function edgesByText(count: number, splices: readonly (readonly TextSplice[])[]): number[][] {
  const edges = Array.from({ length: count }, () => new Set<number>())
  splices.forEach((ofText, place) => {
    for (const { start, end, pieces } of ofText) {
      edges[place]!.add(start).add(end)
      for (const piece of pieces) if (typeof piece !== 'string') edges[piece.text]!.add(piece.start).add(piece.end)
    }
  })
  return edges.map((set) => [...set].sort((a, b) => a - b))
}
