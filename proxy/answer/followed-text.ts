import { isUtf8 } from 'node:buffer'
import { applySplices, type Splice, spanFinder } from '../common/json/json-spans.ts'
import type { JsonPath } from '../common/json/json-value.ts'
import type { CitationLabels } from './citations/citation-labels.ts'
import { CitationMapper } from './citations/map-citations.ts'
import type { AnswerText } from './find-answer-texts.ts'

/** The part of a text that one event holds; offsets are in the text. */
interface Piece {
  readonly event: HeldEvent
  readonly path: JsonPath
  readonly start: number
  readonly end: number
  readonly changes: Splice[]
}

/**
 * One text of an answer, which events deliver in pieces. Every piece keeps its own text; if a label is split, its whole
 * replacement goes into the first piece.
 */
export class FollowedText {
  /** how many labels were changed */
  remapped = 0
  readonly #labels: CitationLabels
  #mapper: CitationMapper
  #length = 0
  readonly #undecided: Piece[] = []
  /** the text as the last event repeated it; undefined if the engine repeats nothing */
  #soFar: string | undefined = ''
  /** all changes to a text that is repeated */
  #changes: Splice[] = []

  constructor(labels: CitationLabels) {
    this.#labels = labels
    this.#mapper = new CitationMapper(labels)
  }

  /** Takes the piece in `event`; the event is undecided until all of the piece is decided. */
  add(event: HeldEvent, { path, text, isCumulative }: AnswerText): void {
    const repeated = isCumulative ? this.#repeatedBy(text) : 0
    const start = this.#length - repeated
    this.#length = start + text.length
    const piece: Piece = { event, path, start, end: this.#length, changes: [] }
    for (const change of this.#changes) addChange(piece, change)
    this.#undecided.push(piece)
    event.undecided += 1
    const changes = this.#advance(text.slice(repeated), false)
    if (isCumulative) this.#changes = this.#changes.concat(changes)
  }

  /** Decides everything received so far, as if nothing followed. */
  decide(): void {
    this.#changes = this.#changes.concat(this.#advance('', true))
  }

  #advance(text: string, isLast: boolean): readonly Splice[] {
    const { decided, changes } = this.#mapper.advance(text, isLast)
    this.remapped += changes.length
    for (const change of changes) for (const piece of this.#undecided) addChange(piece, change)
    let still = 0
    for (const piece of this.#undecided) {
      if (piece.end > decided) {
        this.#undecided[still++] = piece
      } else {
        piece.event.change(piece.path, piece.changes)
        piece.event.undecided -= 1
      }
    }
    this.#undecided.length = still
    return changes
  }

  /**
   * Returns how much of `text` was received before: everything so far, or nothing if the engine streams disjoint
   * segments. If the engine took back an incomplete character, the text starts over.
   */
  #repeatedBy(text: string): number {
    const soFar = this.#soFar
    if (soFar === undefined) return 0
    this.#soFar = text
    if (text.startsWith(soFar)) return soFar.length
    let common = 0
    while (common < text.length && text[common] === soFar[common]) common += 1
    if (common < soFar.length / 2) {
      this.#soFar = undefined
      return 0
    }
    this.decide()
    this.#mapper = new CitationMapper(this.#labels)
    this.#length = 0
    this.remapped = 0
    this.#changes = []
    return 0
  }
}

/** Adds the part of `change` that is within the piece. */
function addChange({ start, end, changes }: Piece, change: Splice): void {
  const from = Math.max(change.start, start)
  const to = Math.min(change.end, end)
  if (from >= to) return
  changes.push({ start: from - start, end: to - start, text: change.start >= start ? change.text : '' })
}

const LINE_END = /[\r\n]/g

/** An event that is sent on once all of its texts are decided. */
export class HeldEvent {
  /** As received. */
  readonly bytes: Buffer
  /** How many of its texts are undecided. */
  undecided = 0
  /** Its data, once it is read; without it the event cannot be changed. */
  data: string | undefined
  /** The whole event, with its fields, comments and line ends. */
  #text = ''
  /** where each line of its data begins, in the data and in the text */
  readonly #lines: { readonly inData: number; readonly inText: number }[] = []
  readonly #splices: Splice[] = []

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Finds its data; there is none if it is not UTF-8. */
  read(): void {
    if (!isUtf8(this.bytes)) return
    const text = this.bytes.toString()
    let data = ''
    // a stream may begin with a byte order mark
    for (let start = text.startsWith('\uFEFF') ? 1 : 0; start < text.length; ) {
      LINE_END.lastIndex = start
      const end = LINE_END.exec(text)?.index ?? text.length
      if (text.startsWith('data:', start)) {
        if (this.#lines.length > 0) data += '\n'
        const inText = start + (text[start + 5] === ' ' ? 6 : 5)
        this.#lines.push({ inData: data.length, inText })
        data += text.slice(inText, end)
      }
      start = end + 1
    }
    this.#text = text
    if (this.#lines.length > 0) this.data = data
  }

  /** Changes the string at `path` in its data. JSON has no line breaks in strings, so each change is within a line. */
  change(path: JsonPath, changes: readonly Splice[]): void {
    if (this.data === undefined || changes.length === 0) return
    for (const { start, end, text } of spliceString(this.data, path, changes)) {
      const { inData, inText } = this.#lines.findLast((line) => line.inData <= start)!
      this.#splices.push({ start: start - inData + inText, end: end - inData + inText, text })
    }
  }

  /** Returns the event as it is sent: every byte outside labels is as received. */
  toBytes(): Buffer {
    return this.#splices.length === 0 ? this.bytes : Buffer.from(applySplices(this.#text, this.#splices))
  }
}

/**
 * Returns splices for valid JSON that make `changes` in the string at `path`; unchanged parts keep their bytes, escapes
 * included. The changes are in UTF-16 units of the string, ascending and not overlapping.
 */
export function spliceString(json: string, path: JsonPath, changes: readonly Splice[]): Splice[] {
  const literal = spanFinder(json)(path)
  const isPlain = !json.slice(literal.start, literal.end).includes('\\')
  let units = 0
  let at = literal.start + 1
  const seek = (unit: number): number => {
    if (isPlain) return literal.start + 1 + unit
    for (; units < unit; units++) at += json[at] !== '\\' ? 1 : json[at + 1] === 'u' ? 6 : 2
    return at
  }
  return changes.map(({ start, end, text }) => ({
    start: seek(start),
    end: seek(end),
    text: JSON.stringify(text).slice(1, -1),
  }))
}
