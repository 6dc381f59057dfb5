import { applySplices, type Splice } from '../../json/json-spans.ts'
import type { CitationLabels } from './citation-labels.ts'
import { beginning, type DataRegion, enterData, findDataStop, passDataStop } from './data-region.ts'
import { Lookahead } from './lookahead.ts'
import { enterCode, findCodeStop, passCodeStop, type Region } from './markdown-code.ts'
import { type Behind, type Citation, readBracketed, readSpoken } from './read-citation.ts'
import type { CitedLabel } from './read-label-list.ts'

/** How far the citations of a text are decided, and which of them change; offsets are in the whole text. */
interface Progress {
  readonly decided: number
  readonly changes: readonly Splice[]
}

/** how much of a line is examined to distinguish prose from code */
const keptBehind = 256
const notSeparator = /[^ \t,;+]/g

/**
 * Maps the citations of one text, as it arrives, to the caller's labels; however the text is split, the result is the
 * same. At most a few hundred characters at the end are undecided, because they may begin a citation.
 */
export class CitationMapper {
  readonly #labels: CitationLabels
  readonly #prosaicStop: RegExp
  #region: Region | DataRegion = beginning
  #undecided = ''
  #decided = 0
  /** the end of the decided text */
  #behind = ''
  #isBehindCitation = false
  /** nothing but separators has followed a value */
  #isBehindValue = false
  #remapped = 0

  constructor(labels: CitationLabels) {
    this.#labels = labels
    const initials = labels.prefixes.flatMap((prefix) => prefix.initials).join('')
    // `[]` matches nothing
    this.#prosaicStop = new RegExp(`[\`~\\\\[【{<]|(?<![A-Za-z0-9_])[${initials}]`, 'g')
  }

  /** How many labels were changed. */
  get remapped(): number {
    return this.#remapped
  }

  /** Takes the next piece of the text and returns what can be released of it. */
  push(text: string): string {
    return this.#release(text, false)
  }

  /** Returns the rest, once the text is over. */
  flush(): string {
    return this.#release('', true)
  }

  /** Takes the next piece of the text, the last one if `isLast`; returns the changes without applying them. */
  advance(text: string, isLast: boolean): Progress {
    const pending = this.#undecided + text
    const changes: Splice[] = []
    let at = 0
    while (at < pending.length) {
      const stop = this.#findStop(pending, at)
      if (stop > at) this.#pass(pending, at, stop)
      at = stop
      if (at === pending.length) break
      const end = this.#passStop(pending, at, isLast, changes)
      if (end === undefined) break
      at = end
    }
    this.#behind = this.#textBefore(pending, at)
    this.#undecided = pending.slice(at)
    this.#decided += at
    this.#remapped += changes.length
    return { decided: this.#decided, changes }
  }

  #release(text: string, isLast: boolean): string {
    const pending = this.#undecided + text
    const from = this.#decided
    const { decided, changes } = this.advance(text, isLast)
    const moved = changes.map(({ start, end, text }) => ({ start: start - from, end: end - from, text }))
    return applySplices(pending.slice(0, decided - from), moved)
  }

  #findStop(pending: string, at: number): number {
    const region = this.#region
    if (region.kind === 'span' || region.kind === 'fence') return findCodeStop(region, pending, at)
    if (region.kind !== 'prose') return findDataStop(region, pending, at)
    this.#prosaicStop.lastIndex = at
    return this.#prosaicStop.exec(pending)?.index ?? pending.length
  }

  /** Passes over prose. */
  #pass(pending: string, at: number, stop: number): void {
    this.#isBehindCitation = false
    if (!this.#isBehindValue) return
    notSeparator.lastIndex = at
    this.#isBehindValue = (notSeparator.exec(pending)?.index ?? stop) >= stop
  }

  /** Decides what is at a stop and steps past it; returns undefined if that takes more text. */
  #passStop(pending: string, at: number, isLast: boolean, changes: Splice[]): number | undefined {
    const ahead = new Lookahead(pending, at, isLast)
    const sign = pending[at]!
    if (this.#region.kind !== 'prose' || sign === '`' || sign === '~') return this.#passRegion(ahead, pending)
    const data = '<{['.includes(sign) ? enterData(ahead) : undefined
    if (ahead.isStarved) return undefined
    if (data) return this.#enter(data, ahead.at)
    const citation = this.#readCitation(ahead, sign, pending)
    const end = citation?.end ?? at + (sign === '\\' && isPunctuation(pending[at + 1] ?? '') ? 2 : 1)
    if (ahead.isStarved) return undefined
    for (const label of citation?.labels ?? []) this.#translate(label, pending, changes)
    this.#isBehindCitation = citation !== undefined && citation.labels.length > 0
    this.#isBehindValue = citation?.isValue === true
    return end
  }

  /** Enters, leaves or continues a region that is not prose. */
  #passRegion(ahead: Lookahead, pending: string): number | undefined {
    const region = this.#region
    const line = (): string => lineOf(this.#textBefore(pending, ahead.at))
    const next =
      region.kind === 'prose'
        ? enterCode(ahead, line())
        : region.kind === 'span' || region.kind === 'fence'
          ? passCodeStop(ahead, region, line())
          : passDataStop(ahead, region)
    return ahead.isStarved ? undefined : this.#enter(next, ahead.at)
  }

  #enter(region: Region | DataRegion, at: number): number {
    this.#region = region
    this.#isBehindCitation = false
    this.#isBehindValue = false
    return at
  }

  #readCitation(ahead: Lookahead, sign: string, pending: string): Citation | undefined {
    const { at } = ahead
    if (sign === '<' || sign === '{' || (sign === '\\' && ahead.peek(1) !== '[')) return undefined
    if (sign !== '\\' && sign !== '[' && sign !== '【') {
      return readSpoken(ahead, this.#labels, at > 0 ? pending[at - 1]! : this.#behind.slice(-1))
    }
    const behind = (): Behind => ({
      line: lineOf(this.#textBefore(pending, at)),
      isCitation: this.#isBehindCitation,
      isValue: this.#isBehindValue,
    })
    return readBracketed(ahead, this.#labels, behind)
  }

  #translate({ start, end, prefix, isRange }: CitedLabel, pending: string, changes: Splice[]): void {
    const label = pending.slice(start, end)
    const received = isRange ? this.#labels.translateRange(prefix, label) : this.#labels.translate(prefix, label)
    if (received === undefined || received === label) return
    changes.push({ start: this.#decided + start, end: this.#decided + end, text: received })
  }

  #textBefore(pending: string, at: number): string {
    if (at >= keptBehind) return pending.slice(at - keptBehind, at)
    return (this.#behind + pending.slice(0, at)).slice(-keptBehind)
  }
}

function lineOf(text: string): string {
  return text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1)
}

/** Whether Markdown lets a backslash escape this character. */
function isPunctuation(character: string): boolean {
  return /[!-/:-@[-`{-~]/.test(character)
}
