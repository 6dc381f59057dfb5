import { findEndBeforeClosing, findOpening } from '../../borders/find-closing-line.ts'
import { hasQuestionBefore } from '../../borders/find-list-end.ts'
import { endsInPrompt, endsInPromptLine } from '../../borders/find-list-tail.ts'
import type { BlockSpan, ContextList } from '../../context-list.ts'
import { readAnnouncement } from '../../judge/read-evidence.ts'
import { findContentEnd, findContentStart, findLineEnd } from '../../scan/find-edges.ts'
import type { Region } from '../../scan/find-elements.ts'
import { type LineNote, type LineNotes, readLineNotes, readRules } from '../../scan/find-line-notes.ts'
import { announcesBlocks } from '../../scan/find-list-heading.ts'
import type { Marks } from '../../scan/find-marks.ts'
import type { Place } from '../../scan/line-marks.ts'
import { findOwn } from '../find-own.ts'

// in Markdown, a line above a rule that is at most this long is a heading, unless it reads like a sentence
const LONGEST_TITLE = 80
const SENTENCE = /[.!?。！？](?:["'”’»)]?\s|$)|[:;)}\]：]["'”’»]?$/
const NO_PARAGRAPH = /^(?:[-*+|#>]|\d+[.)]\s|```)/
const PARAGRAPHS = /\n[ \t\r]*\n\s*/
const ASKING_LINE = /^[^\n]*[?？]["'”’»)]?$/
const NAMED = /^(?:\*\*)?(?:title|source|url|file)\b[^\n]{0,10}:/i
const SECTION = /(?:^|\n)(?:#{1,6} |\*\*[^*\n]{1,80}\*\*[ \t\r]*(?:\n|$))|[:：][ \t\r]*$/
// `a\n---\nb` is usually joined with three signs, rarely with more
const LONGEST_SEPARATOR = 5
// words that end as a sentence
const SENTENCES = /\p{L}[^\n]{8,}[.!?。！？…]|[\p{Script=Han}]{8,}/u
const FRONT_MATTER = /^[a-z][\w-]{0,30}:(?:\s|$)/
// a name of at most three words, because sentences have colons too
const FIELD = /^[A-Za-z][\w-]{0,40}(?: [\w-]{1,24}){0,2}:(?:\s|$)/

/**
 * Finds the list whose blocks are separated by lines of `---` or `===`, if it is certainly a list. It must be announced
 * as several documents, or as context in which each piece is visibly a separate text. It must end with a question or
 * its container. Nothing in it may suggest that the rules belong to a single document.
 */
export function findRuledLists(marks: Marks, region: Region): ContextList[] {
  const { text, whole, rules: all } = marks
  if (region.elements.length > 0 || !holdsTwo(text, all, region)) return []
  const rules = readRules(text, region)
  const first = rules[0]
  if (first === undefined || !areAlike(text, rules, region)) return []
  const start = findStart(text, region, first) ?? findStartOfResults(marks, region, rules)
  if (start === undefined) return []
  const bounded = findBound(text, readLineNotes(text, region), rules, { ...region, start, whole, asked: marks.asked })
  if (bounded === undefined) return []
  const blocks = toBlocks(text, start, rules, bounded)
  if (blocks.length < 2 || !areDocuments(text, blocks)) return []
  if (isQuoted(marks, blocks) || (!region.container && !whole && mayHoldPrompt(text, blocks, bounded))) return []
  const { announcesSet } = readAnnouncement(text, start)
  // rules inside a text are longer, and the sections of a text begin with lower-level headings or in mid-text
  const isSaid = announcesSet || marks.source === 'search' || haveOrigins(text, blocks)
  if (!isSaid && !areOwnTexts(text, rules, blocks)) return []
  return [{ blocks, positional: false, labelPrefix: '', form: 'rules', weight: 'strong', end: blocks.at(-1)!.end }]
}

/** Returns whether each piece is visibly a separate text, by a title or as a single paragraph, between short rules. */
function areOwnTexts(text: string, rules: readonly LineNote[], blocks: readonly BlockSpan[]): boolean {
  const areShortRules = rules.every(({ start, end }) => text.slice(start, end).trim().length <= LONGEST_SEPARATOR)
  const bodies = blocks.map(({ start, end }) => text.slice(start, end))
  if (!areShortRules || bodies.some((body) => !SENTENCES.test(body))) return false
  // headings divide a single text too, and its sections may also be separated by rules
  return bodies.every((body) => NAMED.test(body)) || !bodies.some((body) => SECTION.test(body))
}

/** Returns whether a region may contain at least two rules, all of one kind. Cheap check before its lines are read. */
function holdsTwo(text: string, all: readonly Place[], region: Region): boolean {
  const rules = findOwn(all, region)
  const signAt = ({ start }: Place): string | undefined => text[findContentStart(text, start, region.end)]
  return rules.length > 1 && rules.every((rule) => signAt(rule) === signAt(rules[0]!))
}

/** Returns whether the rules are of one kind, have similar blank lines around them, and underline no heading. */
function areAlike(text: string, rules: readonly LineNote[], region: Region): boolean {
  const rule = text.slice(rules[0]!.start, rules[0]!.end).trim()
  if (rules.length < 2 || (rule[0] !== '-' && rule[0] !== '=')) return false
  const inner = rules.filter(({ start }) => findContentStart(text, region.start, start) < start)
  // front matter opens with a rule; a list may too, but it has a line above the rule
  if (inner.length < rules.length) return false
  const areLines = areSingleLines(text, rules)
  return rules.every(({ start, end, behindBlank }) => {
    if (text.slice(start, end).trim() !== rule) return false
    return behindBlank || areLines || !isTitle(text, start)
  })
}

/** Returns whether there is a single line between any two rules. Under a heading, a section would have text. */
function areSingleLines(text: string, rules: readonly LineNote[]): boolean {
  return rules.slice(1).every(({ start }, i) => !text.slice(rules[i]!.end, start).trim().includes('\n'))
}

function isTitle(text: string, rule: number): boolean {
  const line = lineBefore(text, rule)
  return line.length <= LONGEST_TITLE && !SENTENCE.test(line) && !NO_PARAGRAPH.test(line)
}

function lineBefore(text: string, at: number): string {
  const end = findContentEnd(text, 0, at)
  return text.slice(text.lastIndexOf('\n', end - 1) + 1, end).trim()
}

/**
 * Returns where the first block begins: after the announcement and a rule right below it, or at the beginning of a
 * container.
 */
function findStart(text: string, region: Region, first: LineNote): number | undefined {
  let announced: number | undefined
  for (let line = region.start; line < first.start; line = findLineEnd(text, line) + 1) {
    const end = Math.min(findLineEnd(text, line), first.start)
    if (!announcesBlocks(text, line, end)) continue
    // if there are two announcements, one may be part of a document
    if (announced !== undefined && findContentStart(text, announced, line) < line) return undefined
    announced = end
  }
  if (announced === undefined) return region.container ? findContentStart(text, region.start, region.end) : undefined
  return findContentStart(text, announced, region.end)
}

// a line with the address of a page
const ORIGIN = /(?:^|\n)(?:\*\*)?(?:source|url|link)(?:\*\*)?[:：](?:\*\*)?[ \t]*<?https?:\/\//i

/** Returns whether each of these names the page it is from. */
function haveOrigins(text: string, blocks: readonly BlockSpan[]): boolean {
  return blocks.every(({ start, end }) => ORIGIN.test(text.slice(start, Math.min(end, start + 600))))
}

/** Returns where a tool's texts begin, if each has the address of its page. */
function findStartOfResults({ text, whole }: Marks, region: Region, rules: readonly LineNote[]): number | undefined {
  if (!whole) return undefined
  const start = findContentStart(text, region.start, region.end)
  return haveOrigins(text, toBlocks(text, start, rules, region.end)) ? start : undefined
}

/** Returns the furthest end of the last block. Undefined if it may end anywhere. */
function findBound(
  text: string,
  lines: LineNotes,
  rules: readonly LineNote[],
  { start, end, container, whole, asked }: Region & Pick<Marks, 'whole' | 'asked'>,
): number | undefined {
  if (holdsOwnRule(text, start, rules)) return undefined
  const { notes } = lines
  const questions = notes.filter(({ kind }) => typeof kind === 'object' && kind.question)
  // the question is in another message, and nothing after the first rule leads over to a prompt
  if (asked && !notes.some(({ kind, start }) => typeof kind === 'object' && start > rules[0]!.start)) return end
  if (container || whole) return questions.length === 0 ? end : undefined
  const question = questions.at(-1) ?? findAskingLine(text, rules, { start, end })
  if (hasInstructionBetween(notes, rules.at(-1)!.start, question?.start ?? end)) return undefined
  if (hasQuestionBefore(lines, rules[0]!.start)) return questions.length === 1 ? end : undefined
  // a question between the blocks, or one of several after them, may be part of a document
  return questions.length <= 1 && question !== undefined && question.start > rules.at(-1)!.start
    ? question.start
    : undefined
}

/**
 * Returns the last line if it asks, nothing else follows the last block, and it cannot be a paragraph of a block.
 */
function findAskingLine(
  text: string,
  rules: readonly LineNote[],
  bounds: Pick<Region, 'start' | 'end'>,
): Place | undefined {
  const { start, end } = bounds
  const [body, asking, ...others] = text.slice(rules.at(-1)!.end, end).trim().split(PARAGRAPHS)
  if (body === undefined || asking === undefined || others.length > 0 || !ASKING_LINE.test(asking)) return undefined
  const bodies = rules.map((rule, i) => text.slice(rules[i - 1]?.end ?? start, rule.start).trim())
  if (bodies.some((before) => PARAGRAPHS.test(before))) return undefined
  return { start: text.lastIndexOf(asking, end) }
}

/**
 * Returns whether a paragraph after the last rule announces instructions, such as `Instructions:`. The last block ends
 * before it.
 */
function hasInstructionBetween(notes: readonly LineNote[], rule: number, question: number): boolean {
  return notes.some(({ kind, start, behindBlank }) => {
    return typeof kind === 'object' && behindBlank && start > rule && start < question
  })
}

/**
 * Returns whether two rules follow one another without text between them. One of them is then part of a text that
 * begins or ends with a rule.
 */
function holdsOwnRule(text: string, from: number, rules: readonly LineNote[]): boolean {
  return rules.some(({ end }, i) => {
    const next = rules[i + 1]
    return end > from && next !== undefined && findContentStart(text, end, next.start) >= next.start
  })
}

function toBlocks(text: string, from: number, rules: readonly LineNote[], bound: number): BlockSpan[] {
  const blocks: BlockSpan[] = []
  let start = from
  for (const { start: ruleStart, end: ruleEnd } of [...rules, { start: bound, end: bound }]) {
    const end = findContentEnd(text, start, Math.max(start, ruleStart))
    // there may be nothing between the announcement and a rule below it, or after a closing rule
    if (end > start) blocks.push({ start, end, contentStart: start, contentEnd: end })
    start = findContentStart(text, ruleEnd, bound)
  }
  return blocks
}

/** Returns whether these look like separate documents, not like front matter or sections of one document. */
function areDocuments(text: string, blocks: readonly BlockSpan[]): boolean {
  const bodies = blocks.map(({ start, end }) => text.slice(start, Math.min(end, start + 4_000)))
  // front matter: only fields, or several fields at the beginning
  if (bodies.some((body) => body.split('\n').every((line) => FIELD.test(line) || line.trim() === ''))) return false
  if (bodies.some((body) => body.split('\n', 3).filter((line) => FRONT_MATTER.test(line)).length > 1)) return false
  const levels = bodies.map((body) => /^(#{1,6})\s/.exec(body)?.[1]?.length)
  // sections of one document continue at the level of its first heading, or below
  if (levels.slice(1).some((level) => level !== undefined && level !== 1 && level !== levels[0])) return false
  return !bodies.some((body) => body.includes('```') && (body.split('```').length & 1) === 0)
}

/**
 * Returns whether the first block begins with something that opens a quotation of the list, or the last block ends with
 * its closing.
 */
function isQuoted(marks: Marks, blocks: readonly BlockSpan[]): boolean {
  const [first, last] = [blocks[0]!, blocks.at(-1)!]
  if (findOpening(marks.text, first.start, Math.min(findLineEnd(marks.text, first.start), first.end))) return true
  return findEndBeforeClosing(marks, last.start, last.end) < last.end
}

/**
 * Returns whether the last block may continue with an instruction: only it has paragraphs, or it ends with words to the
 * model.
 */
function mayHoldPrompt(text: string, blocks: readonly BlockSpan[], bound: number): boolean {
  const last = blocks.at(-1)!
  const hasParagraphs = ({ start, end }: BlockSpan): boolean => PARAGRAPHS.test(text.slice(start, end))
  if (hasParagraphs(last) && !blocks.slice(0, -1).some(hasParagraphs)) return true
  const end = Math.max(bound, last.end)
  return endsInPrompt(text, last.start - 1, end) || endsInPromptLine(text, last.start, end)
}
