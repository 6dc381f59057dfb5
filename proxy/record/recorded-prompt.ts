import type { SentPointer } from '#index/dedup/deduplicate-context.ts'
import { findSpanEnds } from '#index/find-spans.ts'
import type { Span } from '../common/json/json-spans.ts'
import type { ContextSlot, PromptContext } from '../prompt/body/prompt-context.ts'
import { labelsAsSent, renderAnnotation } from '../prompt/render-context.ts'
import type { Wording } from '../prompt/wording.ts'
import type { FoundContext } from './found-prompts.ts'
import { cutPrompt, findLastList, type Piece, type PlacedPieces } from './recorded-request.ts'
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

/** Cuts a prompt and names its pieces. */
export function recordPrompt(
  texts: readonly string[],
  places: readonly number[],
  contexts: readonly FoundContext[],
  way: RecordingWay,
): RecordedPrompt {
  const last = findLastList(places, contexts)
  const list = last?.found
  const cut = cutPrompt(texts, places, list)
  const names = new PieceNames(texts, way)
  const [front, placed, rest] = [cut.front.map(names.nameOf), namePlaced(cut.list, names), cut.rest.map(names.nameOf)]
  // read before more names are given: the pieces named below have already been weighed
  const weight = names.weight + (way.isChat ? answerWeight : 0)
  return {
    front,
    blocks: cut.blocks.map(names.nameOf),
    rest,
    list: list && {
      ...placed,
      shortened: nameShortened(last, cut.list, names),
      stays: list.isSpokenOf || undefined,
      orderWords: weighOrderWords(texts, list, way),
    },
    characters: places.reduce((sum, place) => sum + texts[place]!.length, 0),
    weight,
    pieces: [...names.pieces.values()],
  }
}

function namePlaced(
  { blocks, labels, gaps }: PlacedPieces,
  { nameOf }: PieceNames,
): Pick<RecordedList, 'blocks' | 'labels' | 'gaps'> {
  return {
    blocks: blocks.map((pieces) => pieces.map((piece) => (piece ? nameOf(piece) : null))),
    labels: labels.map(nameOf),
    gaps: gaps.map((pieces) => pieces.map(nameOf)),
  }
}

function nameShortened(
  { found, order = [], pointers = [] }: FoundContext,
  { blocks }: PlacedPieces,
  { nameOf, nameText }: PieceNames,
): RecordedList['shortened'] {
  if (pointers.length === 0) return undefined
  return blocks.map((pieces, from) => {
    const own = pointers.filter(({ place }) => order[place] === from)
    const shortened = shortenBlock(found.slots[from]!, pieces, own)
    if (!shortened) return null
    return shortened.map((piece) => (typeof piece === 'string' ? nameText(piece) : piece ? nameOf(piece) : null))
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
  readonly #way: RecordingWay
  readonly pieces = new Map<string, RecordedPiece>()
  /** of all pieces, counted each time that they were named */
  weight = 0

  constructor(texts: readonly string[], way: RecordingWay) {
    this.#texts = texts
    this.#way = way
  }

  readonly nameOf = ({ text, start, end }: Piece): string =>
    this.nameText(this.#texts[text]!.slice(start, end), this.#way.isChat && start === 0)

  readonly nameText = (text: string, beginsMessage = false): string => {
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

/** A stretch of a block, the words of a pointer, or the place of its label (undefined). */
type ShortenedPiece = Piece | string | undefined

/**
 * Takes the pieces of a whole block, and returns those of the block as sent, with pointers instead of some stretches.
 * Returns undefined if it is sent in full, or if its content holds the label of its place.
 */
function shortenBlock(
  { text, content }: ContextSlot,
  pieces: readonly (Piece | undefined)[],
  pointers: readonly SentPointer[],
): readonly ShortenedPiece[] | undefined {
  const at = pieces.findIndex((piece) => piece?.start === content.start && piece.end === content.end)
  if (pointers.length === 0 || at < 0) return undefined
  const kept: ShortenedPiece[] = []
  let start = content.start
  const keepUntil = (end: number): void => {
    if (end > start) kept.push({ text, start, end })
  }
  for (const pointer of pointers.toSorted((a, b) => a.start - b.start)) {
    keepUntil(content.start + pointer.start)
    kept.push(pointer.text)
    start = content.start + pointer.end
  }
  keepUntil(content.end)
  return [...pieces.slice(0, at), ...kept, ...pieces.slice(at + 1)]
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
