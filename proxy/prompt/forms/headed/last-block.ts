import type { Span } from '../../../common/json/json-spans.ts'
import {
  findClosing,
  findClosingLine,
  findEndBeforeClosing,
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
export interface LastBlock extends Surroundings {
  /** The labels of all blocks. */
  readonly labels: readonly Label[]
  readonly first: Label
  readonly label: Label
  /** The furthest possible end. */
  readonly limit: number
  /** What the other blocks contain. */
  readonly interior: Interior
  /** What was opened right before the list. */
  readonly opening: Opening | undefined
  readonly openingRule: string | undefined
}

export function readLastBlock(surroundings: Surroundings, labels: readonly Label[], limit: number): LastBlock {
  const { lines } = surroundings
  const { text } = surroundings.marks
  const [first, label] = [labels[0]!, labels.at(-1)!]
  return {
    ...surroundings,
    labels,
    first,
    label,
    limit,
    interior: readInterior(text, lines, labels),
    opening: findOpening(text, first.start),
    openingRule: findRuleBefore(text, lines, first.start),
  }
}

/** Returns where it ends, and where the list ends including its closing. Undefined if that is uncertain. */
export function findLastEnd(last: LastBlock): { readonly block: number; readonly list: number } | undefined {
  const { opening, first, label } = last
  const { text } = last.marks
  const { ends, quotes, closed } = last.interior
  // the list's closing line also occurs inside its blocks, so it is unclear which occurrence closes the list
  if (opening && findClosingLine(text, opening, first.end, label.start) !== undefined) return undefined
  const ending = readEnding(last)
  // nothing shows where the next of several instructions begins
  if (opening?.item && ending.closing === undefined) return undefined
  // if only the last block is not closed, it is not a block, or its end is cut off
  if ((quotes !== undefined || closed) && ending.listEnd === undefined) return undefined
  const limit = findLimit(last, ending)
  if (limit === undefined) return undefined
  const end = cutAt(last, limit)
  // a document that begins like a prompt, such as `User: …`, would be ended by its own first line
  if (end === label.end) return undefined
  if (opening?.sign && text.endsWith(opening.sign, end)) return undefined
  const isTorn = isClosedAlike(text, ends, end) === false || endsInOwnRule(text, end) || holdsLoneRule(last, end)
  return isTorn ? undefined : { block: end, list: ending.listEnd ?? end }
}

/** Returns where a last block may end; `certain` is set if something within its limit certainly ends it. */
export function readEnding(last: LastBlock): Ending {
  const { lines, limit } = last
  const from = last.label.end
  const own = findOwnEnd(last)
  if (own !== undefined) return { certain: own.start, closing: own.start, listEnd: own.end }
  const closing = findListClosing(last)
  const bound = closing ?? limit
  const blank = findBlank(lines, from, bound)
  const fence = findClosingRule(last, bound)
  if (fence !== undefined) return { paragraph: blank < fence ? blank : undefined, certain: fence, closing: fence }
  const note = notesIn(lines, findLineEnd(last.marks.text, from), bound).find((own) => isEnd(last, own))
  const cue = note && isCue(note) ? note : undefined
  return {
    paragraph: blank < bound ? blank : undefined,
    certain: note?.start ?? (bound < limit ? bound : closing),
    cue,
    closing,
    isAnsweredFirst: cue !== undefined && isSaid(cue) && notesIn(lines, cue.end, bound).some(asks),
  }
}

/** Returns where it ends by the same closing as every other block: a line with its number, or a closing quote. */
function findOwnEnd({ marks, interior, label, limit }: LastBlock): Span | undefined {
  const { quotes, closed } = interior
  const quoted = quotes === undefined ? undefined : findQuoteEnd(marks.text, label.end, quotes, limit)
  if (quoted !== undefined) return { start: quoted, end: quoted }
  return closed ? findOwnClosing(marks.text, label, limit) : undefined
}

/** Returns where something that was opened before the list is closed. */
function findListClosing({ marks, opening, first, label, limit }: LastBlock): number | undefined {
  const tag = findClosing(marks, first.start, label.end, limit)
  return (opening && findClosingLine(marks.text, opening, label.end, tag ?? limit)) ?? tag
}

/** Returns where a rule like the one right before the list closes it. Undefined if that rule occurs elsewhere too. */
function findClosingRule({ marks, lines, first, label, openingRule }: LastBlock, bound: number): number | undefined {
  const [closing, ...others] = notesIn(lines, first.start, openingRule === undefined ? 0 : bound).filter(
    ({ kind, start, end }) => kind === 'rule' && marks.text.slice(start, end).trim() === openingRule,
  )
  return closing && others.length === 0 && closing.start >= label.end ? closing.start : undefined
}

/** Returns whether a line certainly is none of the block: the other blocks do not contain its kind. */
function isEnd({ marks, interior, first, lines }: LastBlock, { kind, behindBlank, start, end }: LineNote): boolean {
  if (typeof kind === 'object') return !interior.cues.has(kind.kind)
  if (kind === 'rule' && marks.text.slice(start, end).trim() === interior.separator) return true
  // records are whole documents, and only one of them may have headings
  if (!behindBlank || interior[kind] || first.keys !== undefined) return false
  if (kind === 'rule' || isPromptHeading(marks.text, start)) return true
  // if no heading of its level comes before the list, it may belong to the last document
  return (lines.headings.get(levelOf(marks.text, start)) ?? start) < first.start
}

/** Returns the furthest end of the block. Undefined if that is uncertain. */
function findLimit(last: LastBlock, ending: Ending): number | undefined {
  const { blank, quotes } = last.interior
  if (quotes !== undefined) return ending.closing
  if (reachesContainerEnd(last, ending)) return ending.closing ?? last.limit
  if (isDoubtful(last, ending)) return undefined
  const isClosed = last.region.container || last.marks.whole
  const bound = ending.certain ?? (isClosed ? last.limit : findLimitBelowQuestion(last))
  if (!blank) return findParagraphLimit(last, ending, bound)
  return bound === undefined || isBeyond(last, bound, isClosed) ? undefined : bound
}

/**
 * Returns whether only the container's end can end it, because the question is outside, behind it or in another
 * message, and no other list follows inside.
 */
function reachesContainerEnd({ marks, region, interior, limit }: LastBlock, { paragraph }: Ending): boolean {
  if (!region.container || limit !== region.end || !(marks.asked || isFollowed(marks, region))) return false
  if (interior.blank || paragraph === undefined) return true
  const next = [marks.labels, region.elements].map((items) => items[findIndexFrom(items, paragraph)]?.start)
  return next.every((start) => start === undefined || start >= region.end)
}

/** Returns whether the cue line that would end it may be part of it. */
function isDoubtful({ marks: { text }, interior, first, label, limit }: LastBlock, ending: Ending): boolean {
  const { cue, closing, paragraph = limit, isAnsweredFirst = false } = ending
  // examples are not touched, but the next list may begin where they end
  if (cue === undefined || showsHow(text, first.start)) return false
  // behind the first paragraph, only a cue that begins the next one may be a line of the document
  if (!interior.blank && cue.start >= paragraph)
    return isAnsweredFirst && findContentStart(text, paragraph, cue.start) === cue.start
  if (isAnsweredFirst) return true
  // instructions between the last line and its cue, without a blank line between them
  if (!cue.behindBlank && endsInPromptLine(text, label.end, cue.start)) return true
  return mayBeInside(text, cue, closing ?? limit, closing !== undefined)
}

/** Returns the end of the region if the question comes before the list, unless the prompt may go on behind it. */
function findLimitBelowQuestion(last: LastBlock): number | undefined {
  const { lines, labels, first, label, interior, limit } = last
  const { text, asked } = last.marks
  const bodies = readBodies(text, labels, interior, limit)
  const isAsked = asked && (interior.blank || isNoLonger(bodies))
  if (!isAsked && !asksBefore(text, lines, first.start)) return undefined
  const from = label.end
  return announcesAlone(bodies) || endsInPrompt(text, from, limit) || endsInPromptLine(text, from, limit)
    ? undefined
    : limit
}

/** Returns whether the prompt may begin before the furthest end of a block of several paragraphs. */
function isBeyond({ marks: { text }, label }: LastBlock, bound: number, isClosed: boolean): boolean {
  const { end: from, keys, isWeak } = label
  const isPromptThere = readCue(text, bound) !== undefined || isPromptHeading(text, bound)
  if (isPromptThere && endsInPrompt(text, from, bound)) return true
  // records without a known source may be followed by other fields and instructions of the prompt
  if (keys !== undefined && isWeak && holdsInstruction(text, from, bound)) return true
  return !isClosed && announcesInstructions(text.slice(from, bound))
}

/** Returns the furthest end of a block without blank lines. */
function findParagraphLimit(
  last: LastBlock,
  { paragraph, closing }: Ending,
  certain: number | undefined,
): number | undefined {
  const { text, asked } = last.marks
  const limit = certain ?? last.limit
  if (paragraph === undefined || paragraph >= limit) {
    // of several lines with nothing after them, the last may be the question
    return certain ?? (text.slice(last.label.end, limit).trim().includes('\n') ? undefined : limit)
  }
  const start = findContentStart(text, paragraph, limit)
  if (start === limit) return paragraph
  const isLast = findContentStart(text, findParagraphEnd(text, start, limit), limit) === limit
  // if no cue follows, the last paragraph is the question
  if (isLast && certain === undefined && !asked) return paragraph
  const { end } = last.region
  // a question before the closing mark may not be the prompt's question if the prompt continues after that mark
  if (limit === closing && findContentStart(text, findLineEnd(text, limit), end) < end) return undefined
  return isPromptFrom(text, start, limit) ? paragraph : undefined
}

/** Returns where its body ends before `limit`, without a separator or the closing of the list. */
function cutAt({ marks, interior, label, openingRule }: LastBlock, limit: number): number {
  const { text } = marks
  const end = findContentEnd(text, label.end, limit)
  const rule = findLastRule(text, label.end, end)
  // a rule that separates the blocks from what follows, unless other blocks also end in one
  const isOutside = rule !== undefined && (rule.text === openingRule || !interior.endsInRule)
  const bodyEnd = isOutside ? rule.bodyEnd : end
  // a line that closes every block is no end of the list
  return isClosedAlike(text, interior.ends, bodyEnd) ? bodyEnd : findEndBeforeClosing(text, label.end, bodyEnd)
}

/** Returns whether only this block holds a rule, which may divide it from the prompt. */
function holdsLoneRule({ interior, region, marks, lines, label }: LastBlock, end: number): boolean {
  if (interior.rule || region.container || marks.whole) return false
  return notesIn(lines, label.end + 1, end).some(({ kind }) => kind === 'rule')
}
