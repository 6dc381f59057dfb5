import { groupBy } from '#index/group-by.ts'
import { findClosingLine, findEndBeforeClosing, findOpening, isClosedAlike } from '../../borders/find-closing-line.ts'
import { mayBeInside } from '../../borders/find-cue-doubt.ts'
import { findRun, type LabelledRegion, type LabelRun } from '../../borders/find-label-run.ts'
import { announcesInstructions, findLimitBelowQuestion } from '../../borders/find-limit-below-question.ts'
import { type Ending, findClosing, findEnding, findOpeningRule, isOpenItem } from '../../borders/find-list-end.ts'
import { endsInPrompt, endsInPromptLine, holdsInstruction, mayGoOn } from '../../borders/find-list-tail.ts'
import { isPromptHeading } from '../../borders/find-prompt-heading.ts'
import { endsInOwnRule, type Interior, readInterior } from '../../borders/list-interior.ts'
import { reachesContainerEnd } from '../../borders/reaches-container-end.ts'
import { type BlockSpan, type ContextList, mostBlocks } from '../../context-list.ts'
import { showsHow } from '../../judge/is-example.ts'
import { readCue } from '../../scan/find-cue-line.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../../scan/find-edges.ts'
import { findOwn, type Region, startsIn } from '../../scan/find-elements.ts'
import { FenceWalk } from '../../scan/find-fences.ts'
import { findLastRule, readLineNotes } from '../../scan/find-line-notes.ts'
import { isOfNotes } from '../../scan/find-list-heading.ts'
import type { Marks } from '../../scan/find-marks.ts'
import type { Label } from '../../scan/labels/label.ts'

/** Finds the lists whose blocks begin with a label at the beginning of a line of this region. */
export function findLabelledLists(marks: Marks, region: Region): ContextList[] {
  const labels = findOwn(marks.labels, region)
  const forms = groupBy(labels, ({ form }) => form)
  if (forms.size === labels.length) return []
  const refused = new Set([...forms.keys()].filter((form) => forms.get(form)!.length > mostBlocks))
  if (refused.size === forms.size) return []
  const own = findOwn(marks.fences, region)
  return readLists({ marks, region, lines: readLineNotes(marks.text, region), fences: own, forms }, labels, refused)
}

/** Reads the lists that these labels begin. Adds the forms of those that are no lists to the `refused`. */
function readLists(labelled: LabelledRegion, labels: readonly Label[], refused: Set<string>): ContextList[] {
  const { marks, region } = labelled
  const fences = new FenceWalk(labelled.fences, region.start)
  const lists: ContextList[] = []
  let at = region.start
  for (const label of labels) {
    if (label.start < at || refused.has(label.form)) continue
    // fences before a list hide labels; fences inside its blocks are content
    at = fences.pass(at, label.start, region.end)
    if (at > label.start) continue
    const list = readList(labelled, label)
    if (list === undefined) refused.add(label.form)
    else if (!isNotes(marks.text, label, list.blocks)) lists.push(list)
    at = list?.end ?? at
  }
  return lists
}

function readList(labelled: LabelledRegion, first: Label): ContextList | undefined {
  const { marks, region, lines } = labelled
  const run = findRun(labelled, first)
  if (run === undefined || !areAlike(run.labels)) return undefined
  // blocks inside and outside an element do not belong to one list
  if (findClosing(marks, first.start, first.end, run.labels.at(-1)!.start) !== undefined) return undefined
  if (isOpenBefore(marks, first.start, run.labels.at(-1)!.end)) return undefined
  const interior = readInterior(marks.text, lines, run.labels)
  if (!region.container && holdsQuestion(interior)) return undefined
  // blocks from another source stay separate, as does the line that announces them
  if (interior.endsInHeading || interior.doubled) return undefined
  const end = findListEnd(labelled, run, interior)
  if (end === undefined) return undefined
  const blocks = run.labels.map((label, i) => toBlock(marks.text, label, interior.ends[i] ?? end.block))
  return {
    blocks,
    positional: run.positional,
    labelPrefix: first.prefix,
    end: end.list,
    form: first.keys === undefined ? (first.bare ? 'number' : 'label') : 'record',
    weight: first.isWeak ? 'weak' : 'strong',
    inContainer: region.isKin && (!first.isWeak || startsIn(marks.text, region, first)),
  }
}

/** Returns whether there are several. Records with other fields between them would be merged with them. */
function areAlike(labels: readonly Label[]): boolean {
  return labels.length > 1 && labels.every(({ keys }) => keys === labels[0]!.keys)
}

/** Returns whether a tag right before the first block opens no element around all: a text may have its closing tag. */
function isOpenBefore({ text, tags }: Marks, start: number, end: number): boolean {
  if (text[start - 1] !== '>') return false
  const tag = tags[findIndexFrom(tags, start) - 1]
  return tag?.end === start && !tag.closing && (tag.partner?.start ?? 0) < end
}

/** Returns whether a numbered list is a text's notes: it is below a heading for notes, or consists only of links. */
function isNotes(text: string, first: Label, blocks: readonly BlockSpan[]): boolean {
  if (!first.bare) return false
  // under a heading like references or sources, sentences are material, not notes
  return isLinks(text, blocks) || (isOfNotes(text, first) && !blocks.every((block) => isTold(text, block)))
}

// bibliographic details: a year, an address, pages
const NOTE = /https?:|\bdoi\b|\bet al\b|\bpp?\.|\bvol\.|\bisbn\b|[(,，] ?(?:19|20)\d\d\b|\[[A-Z]\]/i
const TOLD = /\p{L}+[ \t]+\p{L}+[ \t]+\p{L}+[^\n]*[.!?]|[\p{Script=Han}\p{Script=Hiragana}]{6,}[^\n]*[。！？]/u

function isTold(text: string, { contentStart, contentEnd }: BlockSpan): boolean {
  const words = text.slice(contentStart, Math.min(contentEnd, contentStart + 400))
  return TOLD.test(words) && !NOTE.test(words)
}

// links that a text cites as [1] and [2]
function isLinks(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ contentStart, contentEnd }) => {
    // a page address is short, so long blocks are not copied
    return (
      contentEnd - contentStart < 2_000 &&
      /^(?:[-–] ?)?[<[]?https?:\/\/\S+[^\n]{0,80}$/.test(text.slice(contentStart, contentEnd))
    )
  })
}

/**
 * Returns whether a question to the model may be between the blocks. It is suspicious if only some blocks contain
 * questions.
 */
function holdsQuestion({ questions, ends }: Interior): boolean {
  return questions > 0 && (questions < ends.length || ends.length === 1)
}

/** Returns where the last block ends, and where the list ends including that block's closing. */
function findListEnd(
  labelled: LabelledRegion,
  run: LabelRun,
  interior: Interior,
): { readonly block: number; readonly list: number } | undefined {
  const { text } = labelled.marks
  const [first, last] = [run.labels[0]!, run.labels.at(-1)!]
  const opening = findOpening(text, 0, first.start)
  // the list's closing line also occurs inside its blocks, so it is unclear which occurrence closes the list
  if (opening !== undefined && findClosingLine(text, opening, first.end, last.start) !== undefined) return undefined
  if (isOpenItem(text, run.labels, run.limit)) return undefined
  const ending = findEnding(labelled.marks, labelled.lines, run.labels, interior, run.limit)
  if (interior.quotes !== undefined && ending.listEnd === undefined) return undefined
  // if only the last block is not closed, it is not a block, or its end is cut off
  if (interior.closed && ending.listEnd === undefined) return undefined
  const limit = findBlockLimit(labelled, run, interior, ending)
  if (limit === undefined) return undefined
  const end = cutBlock(labelled, run, interior, limit)
  // a document that begins like a prompt, such as `User: …`, would be ended by its own first line
  if (end === last.end) return undefined
  if (opening?.sign !== undefined && text.endsWith(opening.sign, end)) return undefined
  if (isClosedAlike(text, interior.ends, end) === false) return undefined
  if (endsInOwnRule(text, end) || holdsLoneRule(labelled, last, interior, end)) return undefined
  return { block: end, list: ending.listEnd ?? end }
}

/** Returns whether only the last block holds a rule, which may divide it from the prompt. */
function holdsLoneRule(
  { marks, region, lines }: LabelledRegion,
  last: Label,
  { rule }: Interior,
  end: number,
): boolean {
  if (rule || region.container || marks.whole) return false
  return lines.notes.some(({ kind, start }) => kind === 'rule' && start > last.end && start < end)
}

/** Returns the furthest end of the last block. Undefined if that is uncertain. */
function findBlockLimit(
  labelled: LabelledRegion,
  run: LabelRun,
  interior: Interior,
  ending: Ending,
): number | undefined {
  const { marks, region } = labelled
  const last = run.labels.at(-1)!
  if (interior.quotes !== undefined) return ending.closing
  if (reachesContainerEnd(labelled, run, interior, ending)) return ending.closing ?? run.limit
  if (isDoubtful(labelled, run, interior, ending)) return undefined
  const isClosed = region.container || marks.whole
  const certain = ending.certain ?? (isClosed ? run.limit : undefined)
  const bound = certain ?? findLimitBelowQuestion(labelled, run, interior)
  if (interior.blank) return isBeyond(marks.text, last, bound, isClosed) ? undefined : bound
  return findParagraphLimit(labelled, run, { ...ending, certain: bound })
}

/** Returns whether the prompt may begin before the furthest end of a last block of several paragraphs. */
function isBeyond(
  text: string,
  { end: from, keys, isWeak }: Label,
  bound: number | undefined,
  isClosed: boolean,
): boolean {
  if (bound === undefined || isPromptBefore(text, from, bound)) return true
  // records without a known source may be followed by other fields and instructions of the prompt
  if (keys !== undefined && isWeak && holdsInstruction(text, from, bound)) return true
  return !isClosed && announcesInstructions(text, from, bound)
}

/** Returns whether the cue line that would end the last block may be part of it. */
function isDoubtful(
  { marks }: LabelledRegion,
  { labels, limit }: LabelRun,
  interior: Interior,
  ending: Ending,
): boolean {
  const { cue, closing, paragraph = limit } = ending
  // examples are not touched, but the next list may begin where they end
  if (cue === undefined || showsHow(marks.text, labels[0]!.start)) return false
  const { isAnsweredFirst = false } = ending
  // behind the first paragraph, only a cue that begins the next one may be a line of the document
  if (!interior.blank && cue.start >= paragraph)
    return isAnsweredFirst && findContentStart(marks.text, paragraph, cue.start) === cue.start
  if (isAnsweredFirst) return true
  // instructions between the last line and its cue, without a blank line between them
  if (!cue.behindBlank && endsInPromptLine(marks.text, labels.at(-1)!.end, cue.start)) return true
  return mayBeInside(marks.text, cue, closing ?? limit, closing !== undefined)
}

/** Returns the furthest end of a last block without blank lines. */
function findParagraphLimit(
  labelled: LabelledRegion,
  run: LabelRun,
  { paragraph, certain, closing }: Ending,
): number | undefined {
  const { marks, region } = labelled
  const limit = certain ?? run.limit
  if (paragraph === undefined || paragraph >= limit) {
    return certain ?? (isOneLine(marks.text, run) ? run.limit : undefined)
  }
  // a question before the closing mark may not be the prompt's question if the prompt continues after that mark
  const isEnclosed =
    limit === closing && findContentStart(marks.text, findLineEnd(marks.text, limit), region.end) < region.end
  const asked = certain === undefined && !marks.asked
  return mayGoOn(marks, paragraph, limit, { asked, enclosed: isEnclosed }) ? undefined : paragraph
}

function isPromptBefore(text: string, from: number, cue: number): boolean {
  // instructions may also end above a heading of the prompt
  const isPrompt = readCue(text, cue) !== undefined || isPromptHeading(text, cue)
  return isPrompt && (endsInPrompt(text, from, cue) || endsInHeading(text, from, cue))
}

// a line alone in its paragraph, above the instructions that follow it or at the end of a text
const HEADING_ALONE = /\n[ \t]*\r?\n[^\n]{1,60}[:：]\s*$/

/** Returns whether the last of several paragraphs in this range is a short line that ends with a colon. */
function endsInHeading(text: string, from: number, end: number): boolean {
  return HEADING_ALONE.test(text.slice(Math.max(from, end - 120), end))
}

/** Returns whether the last block is one line, with nothing after it. Of several lines, the last may be the question. */
function isOneLine(text: string, { labels, limit }: LabelRun): boolean {
  return !text.slice(labels.at(-1)!.end, limit).trim().includes('\n')
}

/** Returns where the last block's body ends before `limit`, without a separator or the closing of the list. */
function cutBlock({ marks, lines }: LabelledRegion, { labels }: LabelRun, interior: Interior, limit: number): number {
  const { text } = marks
  const last = labels.at(-1)!
  const end = findContentEnd(text, last.end, limit)
  const rule = findLastRule(text, last.end, end)
  // a rule that separates the blocks from what follows, unless other blocks also end in one
  const isOutside = rule?.text === findOpeningRule(text, lines.notes, labels[0]!.start) || !interior.endsInRule
  const bodyEnd = rule !== undefined && isOutside ? rule.bodyEnd : end
  // a line that closes every block is no end of the list
  return isClosedAlike(text, interior.ends, bodyEnd) ? bodyEnd : findEndBeforeClosing(marks, last.end, bodyEnd)
}

function toBlock(text: string, { start, end: labelEnd, idStart, idEnd, keys }: Label, end: number): BlockSpan {
  // the fields of a record are part of its content
  const contentStart = keys === undefined ? findContentStart(text, labelEnd, end) : start
  const span = { start, end, contentStart, contentEnd: end }
  return idStart === idEnd ? span : { label: { start: idStart, end: idEnd }, ...span }
}
