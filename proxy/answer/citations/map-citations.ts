import { toAsciiDigits, toDigitsLike } from '../../common/digits.ts'
import { applySplices, type Splice } from '../../common/json/json-spans.ts'
import { type CitationLabels, translate } from './citation-labels.ts'
import { Lookahead } from './lookahead.ts'
import { type Citation, readCitation } from './read-citation.ts'
import { beginning, findStop, passStop, prose, type Region } from './region.ts'

/** How far the citations of a text are decided, and which of them change; offsets are in the whole text. */
interface Progress {
  readonly decided: number
  readonly changes: readonly Splice[]
}

/** how much of a line is examined to distinguish prose from code */
const keptBehind = 256
const documentStop = /[`~]|\d+/g
// `$5`, `1.5`, `a/3`
const longestNumber = 16
const partOfNumber = '0123456789.,/$€£+&@%?'

/**
 * Maps the citations of one text, as it arrives, to the caller's labels; however the text is split, the result is the
 * same. At most a few hundred characters at the end are undecided, because they may begin a citation. What is a
 * citation does not depend on which label of its list it has, so that the inverse map restores the text.
 */
export class CitationMapper {
  readonly #labels: CitationLabels
  readonly #hasData: boolean
  #region: Region
  #undecided = ''
  #decided = 0
  /** the end of the text before `#noted`, with every citation's number replaced by the same one */
  #behind = ''
  #noted = 0
  /** where the last citation and the last value ended */
  #citationEnd = -1
  #valueEnd = -1

  /** `isDocument`: no part of the text is data of an answer, such as a tool's call. */
  constructor(labels: CitationLabels, isDocument = false) {
    this.#labels = labels
    this.#hasData = !isDocument
    this.#region = isDocument ? prose : beginning
  }

  /** Takes the next piece of the text, the last one if `isLast`; returns what is decided with it. */
  advance(text: string, isLast: boolean): Progress {
    this.#undecided += text
    // labels may be written in the digits of other scripts
    const pending = toAsciiDigits(this.#undecided)
    const changes: Splice[] = []
    let at = 0
    while (at < pending.length) {
      at = this.#findStop(pending, at)
      if (at === pending.length) break
      const end = this.#passStop(pending, at, isLast, changes)
      if (end === undefined) break
      at = end
    }
    this.#note(pending, at)
    this.#noted = 0
    this.#undecided = this.#undecided.slice(at)
    this.#decided += at
    return { decided: this.#decided, changes }
  }

  #findStop(pending: string, at: number): number {
    if (this.#region.kind !== 'prose' || this.#hasData) return findStop(this.#region, pending, at)
    documentStop.lastIndex = at
    return documentStop.exec(pending)?.index ?? pending.length
  }

  /** Decides what is at a stop and steps past it; returns undefined if that takes more text. */
  #passStop(pending: string, at: number, isLast: boolean, changes: Splice[]): number | undefined {
    const ahead = new Lookahead(pending, at, isLast)
    const sign = pending[at]!
    const isProse = this.#region.kind === 'prose'
    if (isProse && /\d/.test(sign)) return this.#passNumber(ahead, pending, changes)
    if (isProse && sign === '\\') {
      // Markdown lets a backslash escape punctuation
      const length = /[!-/:-@[-`{-~]/.test(ahead.peek(1)) ? 2 : 1
      return ahead.isStarved ? undefined : at + length
    }
    const next = passStop(ahead, this.#region, () => this.#lineBefore(pending, at))
    if (ahead.isStarved) return undefined
    this.#region = next
    return ahead.at
  }

  #passNumber(ahead: Lookahead, pending: string, changes: Splice[]): number | undefined {
    const { at } = ahead
    const end = at + ahead.skip('0123456789', longestNumber)
    if (ahead.isStarved) return undefined
    if (!this.#labels.has(pending.slice(at, end))) return end
    ahead.at = at
    const citation = this.#readCitation(ahead, pending)
    if (ahead.isStarved) return undefined
    if (!citation) return end
    this.#take(citation, pending, changes)
    return citation.end
  }

  #readCitation(ahead: Lookahead, pending: string): Citation | undefined {
    const line = this.#lineBefore(pending, ahead.at)
    const opened = this.#decided + ahead.at
    if (line !== '' && partOfNumber.includes(line.at(-1)!)) return undefined
    // `（１）` is an item of a Japanese text
    if (line.endsWith('（') && this.#undecided[ahead.at] !== pending[ahead.at]) return undefined
    return readCitation(ahead, this.#labels, line, {
      isCitation: (length) => this.#citationEnd === opened - length,
      isValue: (length) => {
        const between = opened - length - this.#valueEnd
        if (this.#valueEnd < 0 || between > line.length - length) return false
        return /^[ \t,;+]*$/.test(line.slice(line.length - length - between, line.length - length))
      },
    })
  }

  #take({ numbers, cited, end, isValue }: Citation, pending: string, changes: Splice[]): void {
    for (const { start, end } of numbers) {
      const label = pending.slice(start, end)
      const received = cited && translate(cited, label)
      if (received === undefined) continue
      this.#note(pending, start)
      this.#behind += '1'
      this.#noted = end
      if (received === label) continue
      const text = toDigitsLike(this.#undecided[start]!, received)
      changes.push({ start: this.#decided + start, end: this.#decided + end, text })
    }
    if (isValue) this.#valueEnd = this.#decided + end
    else if (numbers.length > 0) this.#citationEnd = this.#decided + end
  }

  #lineBefore(pending: string, at: number): string {
    const behind = this.#textBefore(pending, at)
    return behind.slice(Math.max(behind.lastIndexOf('\n'), behind.lastIndexOf('\r')) + 1)
  }

  #note(pending: string, at: number): void {
    this.#behind = this.#textBefore(pending, at)
    this.#noted = at
  }

  #textBefore(pending: string, at: number): string {
    if (at - this.#noted >= keptBehind) return pending.slice(at - keptBehind, at)
    return (this.#behind + pending.slice(this.#noted, at)).slice(-keptBehind)
  }
}

/** Returns a whole text with its citations mapped. */
export function mapCitations(labels: CitationLabels, text: string): string {
  return applySplices(text, new CitationMapper(labels).advance(text, true).changes)
}
