import type { Span } from '../../common/json/json-spans.ts'
import type { ContextSlot } from '../body/prompt-context.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import { isKin } from '../scan/find-elements.ts'
import type { Marks } from '../scan/find-marks.ts'
import type { Label } from '../scan/labels/label.ts'

/* Lines and signs that close a list, or a block of it. */

/** What a line, or its end, opens before a list. */
export interface Opening {
  /** The line that closes it. */
  readonly closing: RegExp
  /** The sign that closes it at the end of a line, if a sign opened it. */
  readonly sign: string | undefined
}

const NOUN =
  'contexts?|documents?|docs|sources?|passages?|results?|chunks?|excerpts?|snippets?|references|information|contents?|files?'
// `knowledge_search tool results.`
const QUALITY = '(?:[a-z]{1,20}[ _-]){0,3}'
const EDGE = '[-!=*_#<>(){}%|~/\\[\\] \\t]{0,40}'
const END = new RegExp(`^${EDGE}end[ _-]?(?:of[ _-])?(?:the[ _-])?(${QUALITY}(?:${NOUN}))${EDGE}[.:]?$`, 'i')
// `[/CONTEXT]`, `{/context}`, `{% endcontext %}`
const BRACKETED = /^(?:\[{1,2}\/|\{{1,2}%?[ \t]?(?:\/|end))[ \t]?([a-z][a-z0-9_ -]{0,40})[ \t]?(?:%?\}{1,2}|\]{1,2})$/i
const CLOSING_TAG = /^<\/([a-z][\w.-]{0,60})[ \t]?>$/i

const BEGIN = new RegExp(`^${EDGE}(?:begin|start)(?:ning)?[ _-]?(?:of[ _-])?(?:the[ _-])?(${QUALITY}(?:${NOUN}))`, 'i')
const OPENED = /^[[{]{1,2}[#%]?[ \t]?([a-z][a-z0-9_ -]{0,40})[ \t]?%?[\]}]{1,2}$/i
const SIGNS = /(?:[<{([]{1,40}|[~+|%$@^&#]{3,40})$/

// `Information: "Source: …`
const QUOTE = /[:：][ \t]*(["“])$/
const QUOTES = ['"""', "'''"]
const MIRRORED: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>', '“': '”' }
const LONGEST_LINE = 120
// an opening quote comes before the list, with at most a heading or an instruction in between
const FURTHEST_QUOTE = 2_000

/** Finds what the text right before a list opens and does not close. */
export function findOpening(text: string, listStart: number): Opening | undefined {
  const before = text.slice(Math.max(0, listStart - FURTHEST_QUOTE), listStart)
  const open = QUOTES.find((quote) => (before.split(quote).length & 1) === 0)
  if (open !== undefined) return toOpening(open)
  const end = findContentEnd(text, 0, listStart)
  const line = text.slice(Math.max(text.lastIndexOf('\n', end - 1) + 1, end - LONGEST_LINE), end).trim()
  const quote = end === listStart ? QUOTE.exec(line)?.[1] : undefined
  if (quote !== undefined) return toOpening(quote)
  const name = BEGIN.exec(line)?.[1] ?? OPENED.exec(line)?.[1]
  if (name !== undefined) return { closing: toNamed(name), sign: undefined }
  const signs = SIGNS.exec(line)?.[0]
  return signs === undefined ? undefined : toOpening(signs)
}

function toOpening(signs: string): Opening {
  const closing = Array.from(signs, (sign) => MIRRORED[sign] ?? sign).join('')
  return { closing: new RegExp(`^${closing.replace(/./g, '\\$&')}[,;.]?$`), sign: closing }
}

function toNamed(name: string): RegExp {
  const words = name.trim().replace(/[ _-]+/g, '[ _-]')
  return new RegExp(
    `^(?:${EDGE}(?:end|stop)[ _-]?(?:of[ _-])?(?:the[ _-])?|${EDGE}[/#][ \\t]?)${words}${EDGE}[.:]?$`,
    'i',
  )
}

/** Returns the start of the first line in this range that closes what was opened before the list. */
export function findClosingLine(text: string, { closing }: Opening, from: number, to: number): number | undefined {
  for (let line = findLineEnd(text, from) + 1; line < to; line = findLineEnd(text, line) + 1) {
    const end = Math.min(findLineEnd(text, line), to)
    if (end - line <= LONGEST_LINE && closing.test(text.slice(line, end).trim())) return line
  }
  return undefined
}

/** Returns the end of the line at `at` if it closes what was opened before the list that precedes it. */
export function findClosingEnd(text: string, listStart: number, at: number): number | undefined {
  const end = findLineEnd(text, at)
  if (at === end || end - at > LONGEST_LINE) return undefined
  const opening = findOpening(text, listStart)
  return opening?.closing.test(text.slice(at, end).trim()) ? findContentEnd(text, at, end) : undefined
}

/**
 * Returns the end of the block from `from` to `end`, without a last line that closes something opened outside the
 * block.
 */
export function findEndBeforeClosing({ text, tags }: Marks, from: number, end: number): number {
  const start = text.lastIndexOf('\n', end - 1) + 1
  if (start <= from || end - start > LONGEST_LINE) return end
  const line = text.slice(start, end).trim()
  const name = (END.exec(line) ?? BRACKETED.exec(line))?.[1]
  if (name !== undefined) return isOpened(text.slice(from, start), name) ? end : findContentEnd(text, from, start)
  if (QUOTES.includes(line)) {
    const isClosed = (text.slice(from, end).split(line).length & 1) === 1
    return isClosed ? end : findContentEnd(text, from, start)
  }
  const tag = CLOSING_TAG.exec(line)?.[1]?.toLowerCase()
  if (tag === undefined || !(isKin(tag) || tag.endsWith('context'))) return end
  const at = findContentStart(text, start, end)
  return tags[findIndexFrom(tags, at)]?.partner === undefined ? findContentEnd(text, from, start) : end
}

function isOpened(body: string, name: string): boolean {
  return new RegExp(
    `[[{<(][#%]?[ \\t]?${name.trim()}|(?:begin|start)[ _-](?:of[ _-])?(?:the[ _-])?${name.trim()}`,
    'i',
  ).test(body)
}

// `[/Document]`, `[END]`, `=== End Document ===`
const OF_BLOCK = /^[^\p{L}\p{N}]{0,12}end(?!\p{L})|^[[{<]{1,3}%?\//iu

/**
 * Returns whether the last block, which ends at `end`, is closed by the same line as all others, but for numbers.
 * Undefined if no line closes all others.
 */
export function isClosedAlike(text: string, others: readonly number[], end: number): boolean | undefined {
  const [line = '', ...lines] = others.map((own) => readLastLine(text, own))
  if (!OF_BLOCK.test(line) || lines.some((own) => own !== line)) return undefined
  return readLastLine(text, end) === line
}

function readLastLine(text: string, end: number): string {
  const line = Math.max(text.lastIndexOf('\n', end - 1) + 1, end - LONGEST_LINE)
  return text.slice(line, end).replaceAll(/\d+/g, '')
}

// a line that closes one block by number, such as `[END CONTEXT 2]`
const FRAME = '[\\-=*_#<>(){}|~\\[\\] \\t]{0,40}'
const WORDS = '(?:\\p{L}{1,20}[ _.#:-]{0,2}){0,2}'
const NUMBERED = new RegExp(
  `^${FRAME}(?:(?:(?:end|stop)[ _-]?(?:of[ _-])?(?:the[ _-])?|/[ \\t]?)${WORDS}(\\d{1,6})|${WORDS}(\\d{1,6})[ _-]end)${FRAME}$`,
  'iu',
)

/**
 * Returns the lines that close these blocks, except the last, by number. Like the label's, such a number belongs to the
 * position. Undefined unless every block has one.
 */
export function findInnerClosings(text: string, labels: readonly Label[]): Span[] | undefined {
  const first = labels[0]!.number
  if (first === undefined || first > 1) return undefined
  const closings: Span[] = []
  for (const [i, { end, number }] of labels.slice(0, -1).entries()) {
    const bodyEnd = findContentEnd(text, end, labels[i + 1]!.start)
    const line = text.lastIndexOf('\n', bodyEnd - 1) + 1
    if (number !== first + i || line <= end || !closes(text, line, bodyEnd, number)) return undefined
    closings.push({ start: line, end: bodyEnd })
  }
  return closings
}

/** Returns the first line up to `limit` that closes this label's block by number. */
export function findOwnClosing(text: string, { end: from, number }: Label, limit: number): Span | undefined {
  for (let line = findLineEnd(text, from) + 1; line < limit; line = findLineEnd(text, line) + 1) {
    const end = findContentEnd(text, line, Math.min(findLineEnd(text, line), limit))
    if (closes(text, line, end, number)) return { start: line, end }
  }
  return undefined
}

/** Returns what is in front of each block, and behind the last: a line that closes one says no more than its label. */
export function outsideBlocks(text: string, blocks: readonly (Span & Pick<ContextSlot, 'label'>)[]): string[] {
  let at = 0
  const pieces = blocks.map(({ start, end, label }) => {
    const piece = text.slice(at, start)
    at = label ? findEndBehindClosing(text, end, Number(text.slice(label.start, label.end))) : end
    return piece
  })
  return [...pieces, text.slice(at)]
}

/** Returns the end of the line that closes by number the block ending at `at`. Returns `at` if there is none. */
function findEndBehindClosing(text: string, at: number, number: number): number {
  const start = findContentStart(text, at, text.length)
  const end = findContentEnd(text, start, findLineEnd(text, start))
  // `…rain.[webpage 1 end]`
  const isApart = text.slice(at, start).includes('\n') || '[<'.includes(text[start] ?? ' ')
  return isApart && closes(text, start, end, number) ? end : at
}

function closes(text: string, start: number, end: number, number: number | undefined): boolean {
  if (end - start > LONGEST_LINE) return false
  const line = text.slice(start, end).trim()
  // most lines do not hold the number
  if (!line.includes(String(number))) return false
  const closing = NUMBERED.exec(line)
  return closing !== null && Number(closing[1] ?? closing[2]) === number
}

/** Returns the closing tag, up to `limit`, of an element opened before the list. Tags within lines are content. */
export function findClosing({ tags }: Marks, listStart: number, from: number, limit: number): number | undefined {
  for (let i = findIndexFrom(tags, from); i < tags.length && tags[i]!.start <= limit; i++) {
    const { closing, partner, start, begins } = tags[i]!
    if (closing && partner !== undefined && partner.start < listStart && (begins || partner.begins)) return start
  }
  return undefined
}

// the sign of an item of instructions, in front of a list's first block on its line
const ITEM = /^[ \t]{0,3}(?:[-*•]|\d+[.)]) (?=\S)/

/**
 * Returns where the next instruction begins, if a list ends one of several, as in `- Use this context: Source: …`.
 * Infinity if there is no next one; undefined if the list ends none.
 */
export function findItemEnd(text: string, listStart: number): number | undefined {
  const line = text.lastIndexOf('\n', listStart - 1) + 1
  const item = ITEM.exec(text.slice(line, listStart))?.[0]
  if (item === undefined) return undefined
  const next = text.indexOf(`\n${item}`, listStart)
  return next < 0 ? Number.POSITIVE_INFINITY : next + 1
}
