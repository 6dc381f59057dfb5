import type { Span } from '../../common/json/json-spans.ts'
import type { ContextSlot } from '../body/prompt-context.ts'
import { findContentEnd, findContentStart, findIndexFrom, findLineEnd } from '../scan/find-edges.ts'
import { isKin } from '../scan/find-elements.ts'
import type { Marks } from '../scan/find-marks.ts'
import type { Label } from '../scan/labels/label.ts'

/* Lines and signs that close a list, or a block of it. */

// signs around such a line, and what is said in it: `[END CONTEXT 2]`, `{% endcontext %}`, `</context>`, `[webpage 1 end]`
const EDGE = '[-!=*_#<>(){}%|~/\\[\\] \\t]{0,40}'
const NAME = '([\\p{L}_][\\p{L}_ .:#-]{0,60})'
const OF_THE = '[ _-]?(?:of[ _-])?(?:the[ _-])?'
const CLOSING = new RegExp(
  `^${EDGE}(?:(?:(?:end|stop)${OF_THE}|/[ \\t]?)${NAME}?(\\d{1,6})?|${NAME}?(\\d{1,6})[ _-]end)${EDGE}[.:]?$`,
  'iu',
)
const OPENING = new RegExp(
  `^${EDGE}(?:begin|start)(?:ning)?${OF_THE}${NAME}|^[[{]{1,2}[#%]?[ \\t]?${NAME}${EDGE}$`,
  'iu',
)
// `Information: "Source: …` or signs at the end of the line
const OPEN_SIGNS = /(?:(?<=[:：][ \t]*)["“]|[<{([]{1,40}|[~+|%$@^&#]{3,40})$/
const QUOTES = ['"""', "'''"]
const MIRRORED: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>', '“': '”' }
const LONGEST_LINE = 120
// an opening quote comes before the list, with at most a heading or an instruction in between
const FURTHEST_QUOTE = 2_000

interface ClosingLine {
  /** What is closed, in lower case and parted by spaces; '' if only a number says it. */
  readonly name: string
  readonly number: number | undefined
}

function readClosing(line: string): ClosingLine | undefined {
  const [whole, name = '', number, front = name, own = number] = CLOSING.exec(line) ?? []
  return whole === undefined ? undefined : { name: toName(front), number: own === undefined ? own : Number(own) }
}

function toName(words: string): string {
  return words
    .replace(/[^\p{L}]+/gu, ' ')
    .trim()
    .toLowerCase()
}

// the sign of an item of instructions, in front of a list's first block on its line: `- Use this context: Source: …`
const ITEM = /^[ \t]{0,3}[-*•] (?=\S)/

/**
 * What the text right before a list opens: by a name, by signs, given as those that close them, or as an item of
 * several, which the next one closes.
 */
export type Opening = Readonly<Record<'name' | 'sign' | 'item', string>>

/** Finds what the text right before a list opens and does not close. */
export function findOpening(text: string, listStart: number): Opening | undefined {
  const before = text.slice(Math.max(0, listStart - FURTHEST_QUOTE), listStart)
  const quote = QUOTES.find((own) => (before.split(own).length & 1) === 0)
  if (quote !== undefined) return { name: '', sign: quote, item: '' }
  const item = ITEM.exec(before.slice(before.lastIndexOf('\n') + 1))?.[0] ?? ''
  const line = before.trimEnd().split('\n').at(-1)!.slice(-LONGEST_LINE).trim()
  const [, begun, name = begun] = OPENING.exec(line) ?? []
  const signs = OPEN_SIGNS.exec(line)?.[0] ?? ''
  if (name === undefined && signs === '' && item === '') return undefined
  return { name: toName(name ?? ''), sign: Array.from(signs, (sign) => MIRRORED[sign] ?? sign).join(''), item }
}

function closesOpening(line: string, { name, sign }: Opening): boolean {
  if (sign !== '' && line.startsWith(sign) && ['', ',', ';', '.'].includes(line.slice(sign.length))) return true
  const closed = readClosing(line)?.name
  return closed !== undefined && closed !== '' && `${name} `.startsWith(`${closed} `)
}

/** Returns the first of the lines below the one at `from` that a test accepts, without white space around it. */
function findLine(text: string, from: number, to: number, test: (line: string) => boolean): Span | undefined {
  for (let start = findLineEnd(text, from) + 1; start < to; start = findLineEnd(text, start) + 1) {
    const end = findContentEnd(text, start, Math.min(findLineEnd(text, start), to))
    if (end - start <= LONGEST_LINE && test(text.slice(start, end).trimStart())) return { start, end }
  }
  return undefined
}

/** Returns the start of the first line in this range that closes what was opened before the list. */
export function findClosingLine(text: string, opening: Opening, from: number, to: number): number | undefined {
  if (opening.item !== '') {
    const next = text.indexOf(`\n${opening.item}`, from) + 1
    return next > 0 && next <= to ? next : undefined
  }
  return findLine(text, from, to, (line) => closesOpening(line, opening))?.start
}

/** Returns the end of the line at `at` if it closes what was opened before the list that precedes it. */
export function findClosingEnd(text: string, listStart: number, at: number): number | undefined {
  const end = findContentEnd(text, at, findLineEnd(text, at))
  if (at === end || end - at > LONGEST_LINE) return undefined
  const opening = findOpening(text, listStart)
  return opening && closesOpening(text.slice(at, end), opening) ? end : undefined
}

/**
 * Returns the end of the block from `from` to `end`, without a last line that closes something opened outside the
 * block.
 */
export function findEndBeforeClosing(text: string, from: number, end: number): number {
  const start = text.lastIndexOf('\n', end - 1) + 1
  if (start <= from || end - start > LONGEST_LINE) return end
  const line = text.slice(start, end).trim()
  return closesOutside(line, text.slice(from, start)) ? findContentEnd(text, from, start) : end
}

/** Returns whether a line behind a body closes something that was opened in front of it. */
function closesOutside(line: string, body: string): boolean {
  if (QUOTES.includes(line)) return (body.split(line).length & 1) === 1
  const name = readClosing(line)?.name ?? ''
  const words = name.replaceAll(' ', '[ _-]?')
  const isOurs =
    '[{'.includes(line[0]!) ||
    isKin(name.replaceAll(' ', '_')) ||
    name.endsWith('context') ||
    name.endsWith('information')
  if (name === '' || !isOurs) return false
  return !new RegExp(`[[{<(][#%]?[ \\t]?${words}|(?:begin|start)${OF_THE}${words}`, 'i').test(body)
}

/**
 * Returns whether the last block, which ends at `end`, is closed by the same line as all others, but for numbers.
 * Undefined if no line closes all others.
 */
export function isClosedAlike(text: string, others: readonly number[], end: number): boolean | undefined {
  const [line = '', ...lines] = others.map((own) => readLastLine(text, own))
  if (readClosing(line) === undefined || lines.some((own) => own !== line)) return undefined
  return readLastLine(text, end) === line
}

function readLastLine(text: string, end: number): string {
  const line = Math.max(text.lastIndexOf('\n', end - 1) + 1, end - LONGEST_LINE)
  return text.slice(line, end).replaceAll(/\d+/g, '').trim()
}

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
    if (number !== first + i || line <= end || !closesBlock(text.slice(line, bodyEnd), number)) return undefined
    closings.push({ start: line, end: bodyEnd })
  }
  return closings
}

/** Returns the first line up to `limit` that closes this label's block by number. */
export function findOwnClosing(text: string, { end: from, number }: Label, limit: number): Span | undefined {
  return findLine(text, from, limit, (line) => closesBlock(line, number))
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
  return isApart && closesBlock(text.slice(start, Math.min(end, start + LONGEST_LINE + 1)), number) ? end : at
}

function closesBlock(line: string, number: number | undefined): boolean {
  // most lines do not hold the number
  return line.length <= LONGEST_LINE && line.includes(String(number)) && readClosing(line.trim())?.number === number
}

/** Returns the closing tag, up to `limit`, of an element opened before the list. Tags within lines are content. */
export function findClosing({ tags }: Marks, listStart: number, from: number, limit: number): number | undefined {
  for (let i = findIndexFrom(tags, from); i < tags.length && tags[i]!.start <= limit; i++) {
    const { closing, partner, start, begins } = tags[i]!
    if (closing && partner !== undefined && partner.start < listStart && (begins || partner.begins)) return start
  }
  return undefined
}
