import type { Splice } from '../common/json/json-spans.ts'
import type { JsonPath } from '../common/json/json-value.ts'
import type { CitationLabels } from './citations/citation-labels.ts'
import { CitationMapper } from './citations/map-citations.ts'
import type { HeldEvent } from './events/held-event.ts'
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

  get remapped(): number {
    return this.#mapper.remapped
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
