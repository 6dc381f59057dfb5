import type { Span } from '../../common/json/json-spans.ts'
import { splitsCharacter, toJsonOffsets } from './json-offsets.ts'
import type { PromptText } from './prompt.ts'
import type { PromptBody } from './prompt-body.ts'
import type { BodySplice } from './splice-body.ts'
import { type Piece, piecesLength, piecesText, spliceText, type TextSplice } from './text-splice.ts'

/** The texts of a body as they are to be sent. */
interface WrittenTexts {
  /** by index, with explicit blocks inserted */
  readonly texts: readonly string[]
  /** by index: the changes to each text, in order and not overlapping */
  readonly splices: readonly (readonly TextSplice[])[]
}

/**
 * Returns splices that bring the texts in a body's JSON to the given state. Text that moves is cut out of the JSON as
 * the client wrote it, including escapes: escaping 240 KB again takes longer than finding them. Empty if nothing
 * changes.
 */
export function spliceTexts(prompt: PromptBody, { texts, splices }: WrittenTexts): BodySplice[] {
  const received = prompt.set?.texts ?? []
  const changed = [...received.keys()].filter((i) => texts[i] !== received[i]!.text || splices[i]!.length > 0)
  if (changed.length === 0) return []
  const cutter = new JsonCutter(prompt, texts, splices)
  return changed.flatMap((place) => cutter.spliceText(place))
}

/** Cuts stretches of texts out of the JSON they were read from. */
class JsonCutter {
  readonly #prompt: PromptBody
  readonly #texts: readonly string[]
  readonly #splices: readonly (readonly TextSplice[])[]
  /** by index: JSON offsets of the characters at which a piece begins or ends; undefined if nothing can be cut there */
  readonly #offsets: (ReadonlyMap<number, number> | undefined)[]

  constructor(prompt: PromptBody, texts: readonly string[], splices: readonly (readonly TextSplice[])[]) {
    this.#prompt = prompt
    this.#texts = texts
    this.#splices = splices
    this.#offsets = edgesByText(texts.length, splices).map((edges, place) => this.#locate(place, edges))
  }

  spliceText(place: number): BodySplice[] {
    const { path, isRaw } = this.#textAt(place)
    const offsets = this.#offsets[place]
    if (offsets === undefined) {
      const text = spliceText(this.#texts, place, this.#splices[place]!)
      return [{ pieces: [isRaw ? text : JSON.stringify(text)], ...this.#prompt.spans.find(path) }]
    }
    return this.#splices[place]!.map(({ start, end, pieces }) => ({
      start: offsets.get(start)!,
      end: offsets.get(end)!,
      pieces: pieces.map((piece) => this.#write(piece, isRaw)),
    })).filter((splice) => !this.#isAsReceived(splice))
  }

  #write(piece: Piece, isRaw: boolean): Span | string {
    const offsets = typeof piece === 'string' ? undefined : this.#offsets[piece.text]
    if (typeof piece !== 'string' && offsets !== undefined) {
      return { start: offsets.get(piece.start)!, end: offsets.get(piece.end)! }
    }
    const text = piecesText(this.#texts, [piece])
    return isRaw ? text : JSON.stringify(text).slice(1, -1)
  }

  #isAsReceived({ start, end, pieces }: BodySplice): boolean {
    const { json } = this.#prompt
    if (piecesLength(pieces) !== end - start) return false
    const written = pieces.map((piece) => (typeof piece === 'string' ? piece : json.slice(piece.start, piece.end)))
    return written.join('') === json.slice(start, end)
  }

  #locate(place: number, edges: readonly number[]): Map<number, number> | undefined {
    const { path, text, isRaw } = this.#textAt(place)
    // explicit blocks are not in the text received, and half a character is not valid JSON
    if (this.#texts[place] !== text || edges.some((edge) => splitsCharacter(text, edge))) return undefined
    if (edges.length === 0) return new Map()
    const { start } = this.#prompt.spans.find(path)
    return isRaw
      ? new Map(edges.map((edge) => [edge, start + edge]))
      : toJsonOffsets(this.#prompt.json, start + 1, edges)
  }

  #textAt(place: number): PromptText {
    return this.#prompt.set!.texts[place]!
  }
}

/** Returns the offsets where splices and pieces begin or end in each text, ascending. */
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
