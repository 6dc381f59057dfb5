import {
  findClosing,
  findClosingLine,
  findEndBeforeClosing,
  findItemEnd,
  findOpening,
  findOwnClosing,
  isClosedAlike,
  type Opening,
} from '../../borders/list-closings.ts'
import {
  announcesAlone,
  endsInOwnRule,
  findQuoteEnd,
  type Interior,
  isNoLonger,
  readBodies,
  readInterior,
} from '../../borders/list-interior.ts'
import {
  announcesInstructions,
  asks,
  asksBefore,
  type CueNote,
  endsInPrompt,
  endsInPromptLine,
  findParagraphEnd,
  holdsInstruction,
  isCue,
  isFollowed,
  isPromptFrom,
  isPromptHeading,
  isSaid,
  mayBeInside,
} from '../../borders/prompt-lines.ts'
import { showsHow } from '../../judge/is-example.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import {
  findBlank,
  findLastRule,
  findRuleBefore,
  type LineNote,
  type LineNotes,
  levelOf,
  notesIn,
} from '../../scan/find-line-notes.ts'
import type { Marks } from '../../scan/find-marks.ts'
import type { Label } from '../../scan/labels/label.ts'

/** What a list is in. */
export interface Surroundings {
  readonly marks: Marks
  readonly region: Region
  readonly lines: LineNotes
}

/** Where a last block may end. */
interface Ending {
  /** At its first blank line. */
  readonly paragraph?: number | undefined
  /** At a line or sign that no earlier block contains: a cue, a heading, what closes the list or the block. */
  readonly certain?: number | undefined
  /** The cue line at `certain`, if it is one. */
  readonly cue?: CueNote | undefined
  /** At the end of an element, quotation or fence around the list, or at the closing of the last block. */
  readonly closing?: number | undefined
  /** Where the list ends, if the last block has its own closing. */
  readonly listEnd?: number
  /** The cue is said in a talk, or announces an answer. Since a question follows, it is a line of the document. */
  readonly isAnsweredFirst?: boolean
}

/**
 * The last block of a list whose blocks begin with labels. The others end where the next one begins; this one where
 * something follows that the others do not contain.
 */
export class LastBlock {
  /** What the other blocks contain. */
  readonly interior: Interior
  readonly #marks: Marks
  readonly #region: Region
  readonly #lines: LineNotes
  readonly #labels: readonly Label[]
  readonly #first: Label
  readonly #label: Label
  /** The furthest possible end. */
  readonly #limit: number
  readonly #opening: Opening | undefined

  constructor({ marks, region, lines }: Surroundings, labels: readonly Label[], limit: number) {
    this.#marks = marks
    this.#region = region
    this.#lines = lines
    this.#labels = labels
    this.#first = labels[0]!
    this.#label = labels.at(-1)!
    this.#limit = limit
    this.#opening = findOpening(marks.text, this.#first.start)
    this.interior = readInterior(marks.text, lines, labels)
  }

  /** Whether something within its limit certainly ends it. */
  get certainEnd(): number | undefined {
    return this.#readEnding().certain
  }

  /** Returns where it ends, and where the list ends including its closing. Undefined if that is uncertain. */
  find(): { readonly block: number; readonly list: number } | undefined {
    const { text } = this.#marks
    const { ends, quotes, closed } = this.interior
    // the list's closing line also occurs inside its blocks, so it is unclear which occurrence closes the list
    if (this.#opening && findClosingLine(text, this.#opening, this.#first.end, this.#label.start) !== undefined)
      return undefined
    if (this.#itemEnd === -1) return undefined
    const ending = this.#readEnding()
    // if only the last block is not closed, it is not a block, or its end is cut off
    if ((quotes !== undefined || closed) && ending.listEnd === undefined) return undefined
    const limit = this.#findLimit(ending)
    if (limit === undefined) return undefined
    const end = this.#cut(limit)
    // a document that begins like a prompt, such as `User: …`, would be ended by its own first line
    if (end === this.#label.end) return undefined
    if (this.#opening?.sign !== undefined && text.endsWith(this.#opening.sign, end)) return undefined
    const isTorn = isClosedAlike(text, ends, end) === false || endsInOwnRule(text, end) || this.#holdsLoneRule(end)
    return isTorn ? undefined : { block: end, list: ending.listEnd ?? end }
  }

  #readEnding(): Ending {
    const { text } = this.#marks
    const from = this.#label.end
    const own = this.#findOwnEnd()
    if (own !== undefined) return { certain: own.start, closing: own.start, listEnd: own.end }
    const closing = this.#findClosing()
    const item = this.#itemEnd === -1 ? undefined : this.#itemEnd
    const bound = closing ?? item ?? this.#limit
    const blank = findBlank(this.#lines, from, bound)
    const fence = this.#findClosingRule(bound)
    if (fence !== undefined) return { paragraph: blank < fence ? blank : undefined, certain: fence, closing: fence }
    const note = notesIn(this.#lines, findLineEnd(text, from), bound).find((own) => this.#isEnd(own))
    const cue = note && isCue(note) ? note : undefined
    return {
      paragraph: blank < bound ? blank : undefined,
      certain: note?.start ?? (bound < this.#limit ? bound : closing),
      cue,
      closing,
      isAnsweredFirst: cue !== undefined && isSaid(cue) && notesIn(this.#lines, cue.end, bound).some(asks),
    }
  }

  /** Returns where it ends by the same closing as every other block: a line with its number, or a closing quote. */
  #findOwnEnd(): { readonly start: number; readonly end: number } | undefined {
    const { text } = this.#marks
    const { quotes, closed } = this.interior
    const quoted = quotes && findQuoteEnd(text, this.#label.end, quotes, this.#limit)
    if (quoted !== undefined) return { start: quoted, end: quoted }
    return closed ? findOwnClosing(text, this.#label, this.#limit) : undefined
  }

  /** Returns where something that was opened before the list is closed. */
  #findClosing(): number | undefined {
    const tag = findClosing(this.#marks, this.#first.start, this.#label.end, this.#limit)
    const line = this.#opening && findClosingLine(this.#marks.text, this.#opening, this.#label.end, tag ?? this.#limit)
    return line ?? tag
  }

  /** Where the next of several instructions begins, if the list ends one; -1 if nothing shows where. */
  get #itemEnd(): number | undefined {
    const end = findItemEnd(this.#marks.text, this.#first.start)
    return end === undefined || (end > this.#label.end && end <= this.#limit) ? end : -1
  }

  get #openingRule(): string | undefined {
    return findRuleBefore(this.#marks.text, this.#lines, this.#first.start)
  }

  /** Returns where a rule like the one right before the list closes it. Undefined if that rule occurs elsewhere too. */
  #findClosingRule(bound: number): number | undefined {
    const rule = this.#openingRule
    const [closing, ...others] = notesIn(this.#lines, this.#first.start, rule === undefined ? 0 : bound).filter(
      ({ kind, start, end }) => kind === 'rule' && this.#marks.text.slice(start, end).trim() === rule,
    )
    return closing && others.length === 0 && closing.start >= this.#label.end ? closing.start : undefined
  }

  /** Returns whether a line certainly is none of the block: the other blocks do not contain its kind. */
  #isEnd({ kind, behindBlank, start, end }: LineNote): boolean {
    const { text } = this.#marks
    const { cues, separator } = this.interior
    if (typeof kind === 'object') return !cues.has(kind.kind)
    if (kind === 'rule' && text.slice(start, end).trim() === separator) return true
    // records are whole documents, and only one of them may have headings
    if (!behindBlank || this.interior[kind] || this.#first.keys !== undefined) return false
    // if no heading of its level comes before the list, it may belong to the last document
    const level = this.#lines.headings.get(levelOf(text, start)) ?? start
    return kind === 'rule' || level < this.#first.start || isPromptHeading(text, start)
  }

  /** Returns the furthest end of the block. Undefined if that is uncertain. */
  #findLimit(ending: Ending): number | undefined {
    const { blank, quotes } = this.interior
    if (quotes !== undefined) return ending.closing
    if (this.#reachesContainerEnd(ending)) return ending.closing ?? this.#limit
    if (this.#isDoubtful(ending)) return undefined
    const isClosed = this.#region.container || this.#marks.whole
    const bound = ending.certain ?? (isClosed ? this.#limit : this.#findLimitBelowQuestion())
    if (!blank) return this.#findParagraphLimit(ending, bound)
    return bound === undefined || this.#isBeyond(bound, isClosed) ? undefined : bound
  }

  /**
   * Returns whether only the container's end can end it, because the question is outside, behind it or in another
   * message, and no other list follows inside.
   */
  #reachesContainerEnd({ paragraph }: Ending): boolean {
    const [marks, region] = [this.#marks, this.#region]
    if (!region.container || this.#limit !== region.end || !(marks.asked || isFollowed(marks, region))) return false
    if (this.interior.blank || paragraph === undefined) return true
    const next = [marks.labels, region.elements].map((items) => items[findIndexFrom(items, paragraph)]?.start)
    return next.every((start) => start === undefined || start >= region.end)
  }

  /** Returns whether the cue line that would end it may be part of it. */
  #isDoubtful({ cue, closing, paragraph = this.#limit, isAnsweredFirst = false }: Ending): boolean {
    const { text } = this.#marks
    // examples are not touched, but the next list may begin where they end
    if (cue === undefined || showsHow(text, this.#first.start)) return false
    // behind the first paragraph, only a cue that begins the next one may be a line of the document
    if (!this.interior.blank && cue.start >= paragraph)
      return isAnsweredFirst && findContentStart(text, paragraph, cue.start) === cue.start
    if (isAnsweredFirst) return true
    // instructions between the last line and its cue, without a blank line between them
    if (!cue.behindBlank && endsInPromptLine(text, this.#label.end, cue.start)) return true
    return mayBeInside(text, cue, closing ?? this.#limit, closing !== undefined)
  }

  /** Returns the end of the region if the question comes before the list, unless the prompt may go on behind it. */
  #findLimitBelowQuestion(): number | undefined {
    const { text, asked } = this.#marks
    const { start } = this.#first
    const bodies = readBodies(text, this.#labels, this.interior, this.#limit)
    const isAsked = asked && (this.interior.blank || isNoLonger(bodies))
    if (!isAsked && !asksBefore(text, this.#lines, start)) return undefined
    const [from, to] = [this.#label.end, this.#limit]
    return announcesAlone(bodies) || endsInPrompt(text, from, to) || endsInPromptLine(text, from, to) ? undefined : to
  }

  /** Returns whether the prompt may begin before the furthest end of a block of several paragraphs. */
  #isBeyond(bound: number, isClosed: boolean): boolean {
    const { text } = this.#marks
    const { end: from, keys, isWeak } = this.#label
    const isPromptThere = readCue(text, bound) !== undefined || isPromptHeading(text, bound)
    if (isPromptThere && endsInPrompt(text, from, bound)) return true
    // records without a known source may be followed by other fields and instructions of the prompt
    if (keys !== undefined && isWeak && holdsInstruction(text, from, bound)) return true
    return !isClosed && announcesInstructions(text.slice(from, bound))
  }

  /** Returns the furthest end of a block without blank lines. */
  #findParagraphLimit({ paragraph, closing }: Ending, certain: number | undefined): number | undefined {
    const { text, asked } = this.#marks
    const limit = certain ?? this.#limit
    if (paragraph === undefined || paragraph >= limit) {
      // of several lines with nothing after them, the last may be the question
      return certain ?? (text.slice(this.#label.end, limit).trim().includes('\n') ? undefined : limit)
    }
    const start = findContentStart(text, paragraph, limit)
    if (start === limit) return paragraph
    const end = findParagraphEnd(text, start, limit)
    const isLast = findContentStart(text, end, limit) === limit
    // if no cue follows, the last paragraph is the question
    if (isLast && certain === undefined && !asked) return paragraph
    // a question before the closing mark may not be the prompt's question if the prompt continues after that mark
    if (limit === closing && findContentStart(text, findLineEnd(text, limit), this.#region.end) < this.#region.end)
      return undefined
    return isPromptFrom(text, start, limit) ? paragraph : undefined
  }

  /** Returns where its body ends before `limit`, without a separator or the closing of the list. */
  #cut(limit: number): number {
    const { text } = this.#marks
    const { ends, endsInRule } = this.interior
    const from = this.#label.end
    const end = findContentEnd(text, from, limit)
    const rule = findLastRule(text, from, end)
    // a rule that separates the blocks from what follows, unless other blocks also end in one
    const isOutside = rule !== undefined && (rule.text === this.#openingRule || !endsInRule)
    const bodyEnd = isOutside ? rule.bodyEnd : end
    // a line that closes every block is no end of the list
    return isClosedAlike(text, ends, bodyEnd) ? bodyEnd : findEndBeforeClosing(this.#marks, from, bodyEnd)
  }

  /** Returns whether only this block holds a rule, which may divide it from the prompt. */
  #holdsLoneRule(end: number): boolean {
    if (this.interior.rule || this.#region.container || this.#marks.whole) return false
    return notesIn(this.#lines, this.#label.end + 1, end).some(({ kind }) => kind === 'rule')
  }
}
