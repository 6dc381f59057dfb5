import { findLineEnd, isBlank, isDigit, isRule, isSpace, matchAt } from './find-edges.ts'
import { type Fence, readFence } from './find-fences.ts'
import { findTags, type Tag } from './find-tags.ts'
import { findTurns, type Turn } from './find-turns.ts'
import { readLabel } from './labels/find-labels.ts'
import { addInlineHeads, readRecordHead, toRecordLabel } from './labels/find-record-head.ts'
import type { Label } from './labels/label.ts'
import { type ToolKind, toToolKind } from './words/tool-kind.ts'

/** What is known about a text besides its characters. */
export interface TextTraits {
  /** It is all material, such as a tool's result: no question follows, and its last block ends with the text. */
  readonly whole?: boolean
  /** It is a prompt rendered with a chat template. Otherwise template marks are ordinary text. */
  readonly rendered?: boolean
  /** The question is in another message, so this one may end with its last block. */
  readonly asked?: boolean
  /** Name of the tool that returned this text. */
  readonly tool?: string | undefined
  /** The tool was asked for a specific order, such as by date. */
  readonly sorted?: boolean
}

export interface Place {
  readonly start: number
}

/** Everything that may be part of a list at the beginning of a text's lines, in order. */
interface LineMarks {
  readonly labels: Label[]
  readonly fences: Fence[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: Place[]
  /**
   * Where a JSON array or object may begin: at the beginning of a line, after a tag there, or after words and a colon.
   */
  readonly values: Place[]
  /** Lines of three quotes. */
  readonly quotes: Place[]
  /** Lines that begin with a field for text, such as `Content: …`. */
  readonly contents: Place[]
}

/** Everything in a text that may be part of a list. */
export interface Marks extends LineMarks, Required<Pick<TextTraits, 'whole' | 'asked'>> {
  readonly text: string
  readonly turns: readonly Turn[]
  readonly tags: readonly Tag[]
  /** Kind of the tool that returned the text, if it has a name. */
  readonly source: ToolKind | undefined
}

// a million tokens are about 100,000 lines; a text with more marks than that is an attack and has no list
const MOST_MARKS = 100_000
// so is a text with many times that number of lines, each of which is read
const MOST_LINES = 300_000
// a text with more repeated forms of labels is not of any kind we know
const MOST_FORMS = 24

/** Lines read per step. Reading a few thousand lines takes milliseconds. */
const LINES_A_STEP = 2_048

/** Reads a text once, and yields every few thousand lines. Returns undefined if it has absurdly many marks. */
export function* readMarks(text: string, traits: TextTraits): Generator<void, Marks | undefined> {
  const { whole = false, rendered = false, asked = false, tool, sorted = false } = traits
  const tags = findTags(text)
  const turns = rendered ? findTurns(text) : [{ start: 0, end: text.length, isAnswer: false }]
  if (tags === undefined || turns === undefined) return undefined
  const source = sorted ? 'read' : toToolKind(tool)
  const ofLines: LineMarks = { labels: [], fences: [], bullets: [], values: [], quotes: [], contents: [] }
  const reader = new LineReader(text, ofLines)
  let lines = 0
  for (let line = 0, end = 0; line < text.length; line = end + 1) {
    end = findLineEnd(text, line)
    reader.read(line, end)
    if (++lines > MOST_LINES || reader.repeated > MOST_FORMS) return undefined
    if (lines % LINES_A_STEP === 0) yield
    if (lines % 256 !== 0) continue
    if (Object.values(ofLines).reduce((sum, { length }) => sum + length, 0) > MOST_MARKS) return undefined
  }
  addInlineHeads(text, ofLines.labels)
  return { text, turns, tags, whole, asked, source, ...ofLines }
}

// deeper is code, but fences may be deeper inside Markdown lists
const MOST_LABEL_INDENT = 3
const MOST_FENCE_INDENT = 16

const LINE_FEED = 10
const ASTERISK = 42

// maximum distance from the line's beginning to a colon that ends a field name or announces a value
const FURTHEST_COLON = 61

const ANNOUNCED_VALUE = /[\p{L}\p{N} _#*()-]{1,60}[:：][ \t]{0,4}(?:\*\*)?[ \t]{0,4}(?=[[{])/uy

// how far behind the colon a value begins
const FURTHEST_VALUE = 12

const TAGGED_VALUE = /(?:<[A-Za-z][^<>\n]{0,200}>[ \t]{0,4}){1,4}(?=[[{])/y

/** Reads the lines of a text one after another and collects what may be part of a list. */
class LineReader {
  readonly #text: string
  readonly #marks: LineMarks
  /** For each form of labels, whether it occurred again. */
  readonly #forms = new Map<string, boolean>()
  /** How many did. */
  repeated = 0
  // most lines have no colon near their beginning
  #nextColon = -1
  #nextWideColon = -1

  constructor(text: string, marks: LineMarks) {
    this.#text = text
    this.#marks = marks
  }

  /** Reads the line from `line` to `lineEnd`. */
  read(line: number, lineEnd: number): void {
    const text = this.#text
    const { fences, bullets } = this.#marks
    let start = line
    while (start - line < MOST_FENCE_INDENT && isBlank(text.charCodeAt(start))) start++
    const code = text.charCodeAt(start)
    if (start === text.length || code === LINE_FEED) return
    const sign = text[start]!
    if (sign === '`' || sign === '~') {
      const fence = readFence(text, start)
      if (fence !== undefined) fences.push(fence)
      return
    }
    this.#readValue(sign, start)
    if (start - line > MOST_LABEL_INDENT) return
    if ((isDigit(code) || '-*+•'.includes(sign)) && !isRule(text, start, lineEnd)) bullets.push({ start: line })
    this.#readHead(line, start)
  }

  /** Reads what may begin a JSON value or a quotation. */
  #readValue(sign: string, start: number): void {
    const text = this.#text
    const { values, quotes } = this.#marks
    if (sign === '{' || sign === '[') values.push({ start })
    else if (sign === '"' && text.startsWith('"""', start)) quotes.push({ start })
    else if (sign === '<' && matchAt(TAGGED_VALUE, text, start)) values.push({ start: TAGGED_VALUE.lastIndex })
  }

  /** Reads the label or field that begins a line at `start`, or the words that announce a value there. */
  #readHead(line: number, start: number): void {
    const text = this.#text
    const { contents, values } = this.#marks
    let own = readLabel(text, start)
    const colon = this.#findColon(start)
    if (own === undefined && colon <= start + FURTHEST_COLON) {
      const head = mayEndName(text, colon) ? readRecordHead(text, line, start) : undefined
      if (head === 'content') contents.push({ start })
      else if (head !== undefined) own = toRecordLabel(text, start, head)
      const behind = text.slice(colon, colon + FURTHEST_VALUE)
      const mayHold = own === undefined && (behind.includes('[') || behind.includes('{'))
      if (mayHold && matchAt(ANNOUNCED_VALUE, text, start)) values.push({ start: ANNOUNCED_VALUE.lastIndex })
    }
    if (own !== undefined) this.#keep(own)
  }

  #findColon(start: number): number {
    if (this.#nextColon < start) this.#nextColon = findSign(this.#text, ':', start)
    if (this.#nextWideColon < start) this.#nextWideColon = findSign(this.#text, '：', start)
    return Math.min(this.#nextColon, this.#nextWideColon)
  }

  #keep(label: Label): void {
    const { labels } = this.#marks
    const last = labels.at(-1)
    // the last field of a record, or the label behind its fields, is no label of its own
    if (last?.keys !== undefined && label.start < last.end) return
    labels.push(label)
    const known = this.#forms.get(label.form)
    if (known === false) this.repeated++
    this.#forms.set(label.form, known !== undefined)
  }
}

function findSign(text: string, sign: string, from: number): number {
  const found = text.indexOf(sign, from)
  return found < 0 ? Number.POSITIVE_INFINITY : found
}

/** Returns whether a field name may end with this colon: whitespace, a non-ASCII character or a fullwidth colon. */
function mayEndName(text: string, colon: number): boolean {
  const at = text.charCodeAt(colon + 1) === ASTERISK ? colon + 3 : colon + 1
  const code = text.charCodeAt(at)
  return isSpace(code) || code > 127 || text[colon] === '：'
}
