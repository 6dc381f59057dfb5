import { applySplices } from '../../common/json/json-spans.ts'
import type { CitationLabels } from './citation-labels.ts'
import { CitationMapper } from './map-citations.ts'

/** Maps the citations of a text as it arrives, and returns what can be released. */
export class PieceMapper {
  readonly #mapper: CitationMapper
  #undecided = ''
  /** how much of the text was released */
  decided = 0
  /** how many labels were changed */
  remapped = 0

  constructor(labels: CitationLabels) {
    this.#mapper = new CitationMapper(labels)
  }

  push(text: string, isLast = false): string {
    const [pending, from] = [this.#undecided + text, this.decided]
    const { decided, changes } = this.#mapper.advance(text, isLast)
    this.#undecided = pending.slice(decided - from)
    this.decided = decided
    this.remapped += changes.length
    const moved = changes.map(({ start, end, text }) => ({ start: start - from, end: end - from, text }))
    return applySplices(pending.slice(0, decided - from), moved)
  }

  flush(): string {
    return this.push('', true)
  }
}
