import { isBlank, isDigit, isRule, isSpace } from './find-edges.ts'
import { type Fence, readFence } from './find-fences.ts'
import { readLabel } from './labels/find-labels.ts'
import { readRecordHead, toRecordLabel } from './labels/find-record-head.ts'
import type { Label } from './labels/label.ts'
import { NextColon } from './next-colon.ts'

// deeper is code, but fences may be deeper inside Markdown lists
const MOST_LABEL_INDENT = 3
const MOST_FENCE_INDENT = 16

const LINE_FEED = 10
const BACKTICK = 96
const TILDE = 126
const HYPHEN = 45
const EQUALS = 61
const LESS = 60
const QUOTE = 34
const ASTERISK = 42
const PLUS = 43
const BULLET = 0x2022
const OPEN_BRACKET = 91
const OPEN_BRACE = 123

// maximum distance from the line's beginning to a colon that ends a field name or announces a value
const FURTHEST_COLON = 61

const ANNOUNCED_VALUE = /[\p{L}\p{N} _#*()-]{1,60}[:：][ \t]{0,4}(?:\*\*)?[ \t]{0,4}(?=[[{])/uy
const MOST_SIGNS_BEFORE_VALUE = 10

const BOLD = /(?:<br ?\/?>[ \t]?){0,4}(?=<b>)/iy
const TAGGED_VALUE = /(?:<[A-Za-z][^<>\n]{0,200}>[ \t]{0,4}){1,4}(?=[[{])/y

/** Reads the lines of a text one after another and collects what may be part of a list. */
export class LineReader {
  readonly #text: string
  readonly marks: GrowingMarks = noMarks()
  /** For each form, whether it occurred again. */
  readonly #forms = new Map<string, boolean>()
  repeated = 0
  readonly #colons: NextColon

  constructor(text: string) {
    this.#text = text
    this.#colons = new NextColon(text)
  }

  /** Reads the line from `line` to `lineEnd`. */
  read(line: number, lineEnd: number): void {
    const text = this.#text
    const start = skipIndent(text, line)
    const code = text.charCodeAt(start)
    if (start === text.length || code === LINE_FEED) return
    if (code === BACKTICK || code === TILDE) {
      this.#readFence(start)
      return
    }
    this.#readValue(code, start)
    if (start - line > MOST_LABEL_INDENT) return
    const isRuled = (code === HYPHEN || code === EQUALS) && isRule(text, start, lineEnd)
    if (!isRuled && (isBullet(code) || isDigit(code))) this.marks.bullets.push({ start: line })
    this.#readLabel(line, start)
  }

  #readFence(start: number): void {
    const fence = readFence(this.#text, start)
    if (fence !== undefined) this.marks.fences.push(fence)
  }

  /** Reads what may begin a JSON value or a quotation. */
  #readValue(code: number, start: number): void {
    if (code === OPEN_BRACE || code === OPEN_BRACKET) this.marks.values.push({ start })
    else if (code === LESS) this.#readTaggedValue(start)
    else if (code === QUOTE && this.#text.startsWith('"""', start)) this.marks.quotes.push({ start })
  }

  #readTaggedValue(start: number): void {
    BOLD.lastIndex = start
    const bold = BOLD.exec(this.#text)
    if (bold !== null) this.marks.bolds.push({ start: start + bold[0].length })
    TAGGED_VALUE.lastIndex = start
    const tags = TAGGED_VALUE.exec(this.#text)
    if (tags !== null) this.marks.values.push({ start: start + tags[0].length })
  }

  #readLabel(line: number, start: number): void {
    const colon = this.#colons.from(start)
    const hasColon = colon <= start + FURTHEST_COLON
    const label = this.#findLabel(line, start, hasColon ? colon : undefined)
    if (label !== undefined) {
      this.#keep(label)
    } else if (hasColon && mayAnnounceValue(this.#text, colon)) {
      ANNOUNCED_VALUE.lastIndex = start
      const announcement = ANNOUNCED_VALUE.exec(this.#text)
      if (announcement !== null) this.marks.values.push({ start: start + announcement[0].length })
    }
  }

  /** Returns the label that begins at `start`. `colon` is the colon that may end a field's name. */
  #findLabel(line: number, start: number, colon: number | undefined): Label | undefined {
    const text = this.#text
    const label = readLabel(text, start)
    return label ?? (colon !== undefined && mayEndName(text, colon) ? this.#readRecord(line, start) : undefined)
  }

  #keep(label: Label): void {
    const last = this.marks.labels.at(-1)
    // the last field of a record, or the label behind its fields, is no label of its own
    if (last?.keys !== undefined && label.start < last.end) return
    this.marks.labels.push(label)
    const known = this.#forms.get(label.form)
    if (known === false) this.repeated++
    this.#forms.set(label.form, known !== undefined)
  }

  #readRecord(line: number, start: number): Label | undefined {
    const head = readRecordHead(this.#text, line, start)
    if (head !== 'content') return head && toRecordLabel(this.#text, start, head)
    this.marks.contents.push({ start })
    return undefined
  }
}

/** Returns whether a field name may end with this colon: whitespace, a non-ASCII character or a fullwidth colon. */
function mayEndName(text: string, colon: number): boolean {
  const at = text.charCodeAt(colon + 1) === ASTERISK ? colon + 3 : colon + 1
  const code = text.charCodeAt(at)
  return isSpace(code) || code > 127 || text[colon] === '：'
}

/** Returns whether a JSON value follows this colon, ignoring the few signs that {@link ANNOUNCED_VALUE} skips. */
function mayAnnounceValue(text: string, colon: number): boolean {
  let at = colon + 1
  while (at - colon <= MOST_SIGNS_BEFORE_VALUE && isBlankOrBold(text.charCodeAt(at))) at++
  const code = text.charCodeAt(at)
  return code === OPEN_BRACE || code === OPEN_BRACKET
}

function isBlankOrBold(code: number): boolean {
  return isBlank(code) || code === ASTERISK
}

function isBullet(code: number): boolean {
  return code === HYPHEN || code === ASTERISK || code === PLUS || code === BULLET
}

function skipIndent(text: string, line: number): number {
  let at = line
  while (at - line < MOST_FENCE_INDENT && isBlank(text.charCodeAt(at))) at++
  return at
}

export interface Place {
  readonly start: number
}

/** What the lines of a text contain that may be part of a list: by kind, in order. */
export interface LineMarks {
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: readonly Place[]
  /**
   * Where a JSON array or object may begin: at the beginning of a line, after a tag there, or after words and a colon.
   */
  readonly values: readonly Place[]
  /** Lines of three quotes. */
  readonly quotes: readonly Place[]
  /** Lines that begin with a field for text, such as `Content: …`. */
  readonly contents: readonly Place[]
  /** Bold HTML text at the beginning of a line, possibly after line breaks: `<br><b>Content from a.pdf: </b>`. */
  readonly bolds: readonly Place[]
}

/** Marks that are still being collected. */
type GrowingMarks = { readonly [Kind in keyof LineMarks]: LineMarks[Kind][number][] }

/** Returns marks to add to: none yet of any kind. */
function noMarks(): GrowingMarks {
  return { labels: [], fences: [], bullets: [], values: [], quotes: [], contents: [], bolds: [] }
}

/** Returns how many marks there are, of all kinds together. */
export function countMarks(marks: LineMarks): number {
  let count = 0
  for (const ofOneKind of Object.values(marks)) count += ofOneKind.length
  return count
}
