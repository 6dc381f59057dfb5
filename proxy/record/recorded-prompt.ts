import { findSpanEnds } from '#index/find-spans.ts'
import type { Span } from '../common/json/json-spans.ts'
import type { ContextSlot, PromptContext } from '../prompt/body/prompt-context.ts'
import { labelsAsSent, renderAnnotation } from '../prompt/render-context.ts'
import type { Wording } from '../prompt/wording.ts'
import type { FoundContext } from './found-prompts.ts'
import type { BlockLine } from './trace-writer.ts'
import { weighText } from './weigh-text.ts'

/** A prompt in pieces. */
export interface RecordedPrompt {
  readonly front: readonly string[]
  readonly blocks: readonly string[]
  readonly rest: readonly string[]
  /** undefined: there is no list */
  readonly list: RecordedList | undefined
  /** the pieces named above, each once */
  readonly pieces: readonly RecordedPiece[]
  /** of the whole prompt, like `weight` */
  readonly characters: number
  readonly weight: number
}

/** A list of blocks and its marks, by the ids of their pieces. */
interface RecordedList {
  /** null: the label of the block's place goes here */
  readonly blocks: readonly (readonly (string | null)[])[]
  readonly labels: readonly string[]
  readonly gaps: readonly (readonly string[])[]
  /** by block: its pieces if it is sent with pointers, otherwise null; undefined: no block is */
  readonly shortened: readonly (readonly (string | null)[] | null)[] | undefined
  /** the prompt refers to the places of the blocks, so they are not moved */
  readonly stays: true | undefined
  /** weight of the order annotation; 0: none is sent */
  readonly orderWords: number
}

interface RecordedPiece {
  readonly id: string
  /** undefined: no texts are written */
  readonly text: string | undefined
  readonly characters: number
  readonly weight: number
  readonly stretches: BlockLine['stretches']
}

/** How a prompt is recorded. */
interface RecordingWay {
  readonly hash: (text: string) => string
  readonly hasText: boolean
  /** wording of the order annotation; undefined: none is sent */
  readonly wording: Wording | undefined
  /** each text is a message, to which the model's template adds words */
  readonly isChat: boolean
}

/** What templates such as ChatML add to each message, and to a chat as the beginning of the answer. */
const messageWeight = 5
const answerWeight = 3

/**
 * Cuts a prompt, given by the indices of its texts, at the blocks of the list whose blocks may be moved, its last one,
 * and names the pieces. Without a list everything is front. Every character is in exactly one piece.
 */
export function recordPrompt(
  texts: readonly string[],
  places: readonly number[],
  contexts: readonly FoundContext[],
  way: RecordingWay,
): RecordedPrompt {
  const last = contexts.findLast(({ found: { isResult, slots } }) => {
    return !isResult && slots.every(({ text }) => places.includes(text))
  })
  const slots = (last?.found.slots ?? []).toSorted(
    (a, b) => places.indexOf(a.text) - places.indexOf(b.text) || a.start - b.start,
  )
  const names = new PieceNames(texts, places, way)
  const end = slots.at(-1)
  const front = names.between(undefined, slots[0])
  const positional = last?.found.positional ?? false
  const placed = {
    blocks: slots.map((slot) =>
      cutSlot(slot, positional).map((piece) => (piece ? names.nameOf(slot.text, piece) : null)),
    ),
    labels: positional ? slots.map(({ text, label }) => names.nameOf(text, label!)) : [],
    gaps: slots.slice(1).map((slot, place) => names.between(slots[place], slot)),
  }
  const rest = end ? names.between(end, undefined) : []
  // read before more names are given: the pieces named below have already been weighed
  const weight = names.weight + (way.isChat ? answerWeight : 0)
  return {
    front,
    // the contents of the blocks, which identify them at any place
    blocks: slots.map(({ text, content }) => names.nameOf(text, content)),
    rest,
    list: last && {
      ...placed,
      shortened: nameShortened(last, slots, names),
      stays: last.found.isSpokenOf || undefined,
      orderWords: weighOrderWords(texts, last.found, way),
    },
    characters: places.reduce((sum, place) => sum + texts[place]!.length, 0),
    weight,
    pieces: [...names.pieces.values()],
  }
}

/** Cuts a block into its pieces, in order; undefined: the label of its place goes here. */
function cutSlot({ start, end, content, label }: ContextSlot, positional: boolean): (Span | undefined)[] {
  const own = positional ? label : undefined
  const borders = [start, content.start, content.end, end, ...(own ? [own.start, own.end] : [])]
  const cuts = [...new Set(borders)].sort((a, b) => a - b)
  return cuts.slice(1).map((to, i) => (own && to === own.end ? undefined : { start: cuts[i]!, end: to }))
}

function nameShortened(
  { found, order = [], pointers = [] }: FoundContext,
  slots: readonly ContextSlot[],
  names: PieceNames,
): RecordedList['shortened'] {
  if (pointers.length === 0) return undefined
  return slots.map((slot, from) => {
    const own = pointers.filter(({ place }) => order[place] === from).toSorted((a, b) => a.start - b.start)
    const { text, content } = slot
    const pieces = cutSlot(slot, found.positional)
    const isContent = (piece: Span | undefined): boolean => piece?.start === content.start && piece.end === content.end
    // sent in full, or its content holds the label of its place
    if (own.length === 0 || !pieces.some(isContent)) return null
    return pieces.flatMap((piece) => {
      if (piece === undefined || !isContent(piece)) return [piece ? names.nameOf(text, piece) : null]
      const kept: string[] = []
      let start = content.start
      const keepUntil = (end: number): void => {
        if (end > start) kept.push(names.nameOf(text, { start, end }))
      }
      for (const pointer of own) {
        keepUntil(content.start + pointer.start)
        kept.push(names.nameText(pointer.text))
        start = content.start + pointer.end
      }
      keepUntil(content.end)
      return kept
    })
  })
}

/** Weighs the order annotation of the reversed list; that of any other order is about as long. */
function weighOrderWords(texts: readonly string[], list: PromptContext, { wording }: RecordingWay): number {
  if (!wording) return 0
  const order = [...list.slots.keys()].reverse()
  return weighText(renderAnnotation(list, order, labelsAsSent(texts, list, order), wording) ?? '')
}

/** Names the pieces of a prompt, and keeps each once. */
class PieceNames {
  readonly #texts: readonly string[]
  readonly #places: readonly number[]
  readonly #way: RecordingWay
  readonly pieces = new Map<string, RecordedPiece>()
  /** of all pieces, counted each time that they were named */
  weight = 0

  constructor(texts: readonly string[], places: readonly number[], way: RecordingWay) {
    this.#texts = texts
    this.#places = places
    this.#way = way
  }

  /** Names what is between two slots: a piece of each text. Without slots: from the first text, to the end of the last. */
  between(from: ContextSlot | undefined, to: ContextSlot | undefined): string[] {
    const first = from ? this.#places.indexOf(from.text) : 0
    const last = to ? this.#places.indexOf(to.text) : this.#places.length - 1
    return this.#places.slice(first, last + 1).flatMap((text) => {
      const start = text === from?.text ? from.end : 0
      const end = text === to?.text ? to.start : this.#texts[text]!.length
      return end > start ? [this.nameOf(text, { start, end })] : []
    })
  }

  nameOf(text: number, { start, end }: Span): string {
    return this.nameText(this.#texts[text]!.slice(start, end), this.#way.isChat && start === 0)
  }

  nameText(text: string, beginsMessage = false): string {
    const id = this.#way.hash(text)
    let piece = this.pieces.get(id)
    if (!piece) {
      const weight = weighText(text) + (beginsMessage ? messageWeight : 0)
      const kept = this.#way.hasText ? text : undefined
      piece = { id, text: kept, characters: text.length, weight, stretches: this.#stretchesOf(text) }
      this.pieces.set(id, piece)
    }
    this.weight += piece.weight
    return id
  }

  #stretchesOf(text: string): BlockLine['stretches'] {
    const stretches = cutStretches(text)
    if (stretches.length < 2) return undefined
    return stretches.map(
      ({ start, end }) => [this.#way.hash(text.slice(start, end)).slice(0, 11), end - start] as const,
    )
  }
}

const longest = 2_048

/**
 * Cuts a text into stretches of some hundred characters, at places that depend only on the content there. So texts that
 * begin alike begin with the same stretches, even if they differ later.
 */
export function cutStretches(text: string): Span[] {
  const stretches: Span[] = []
  let [start, span] = [0, 0]
  for (const end of findSpanEnds(text)) {
    // one span in four ends a stretch, chosen by its content and not by its place
    if ((end - span) % 4 === 0 || end - start >= longest || end === text.length) {
      stretches.push({ start, end })
      start = end
    }
    span = end
  }
  return stretches
}
