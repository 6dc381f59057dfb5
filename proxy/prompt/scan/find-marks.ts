import { findLineEnd, isRule, isSpace } from './find-edges.ts'
import { type Fence, readFence } from './find-fences.ts'
import { addInlineHeads, toRecordLabel } from './find-inline-heads.ts'
import { type Label, readLabel } from './find-labels.ts'
import { type Opening, readOpening } from './find-openings.ts'
import { readRecordHead } from './find-record-head.ts'
import { findTags, type Tag } from './find-tags.ts'
import { findTurns, type Turn } from './find-turns.ts'
import { type ToolKind, toToolKind } from './tool-kind.ts'

/** What is known of a text besides its characters. */
export interface TextTraits {
  /** It is nothing but material, like a tool's result: no question follows, and its last block ends where it ends. */
  readonly whole?: boolean
  /** It is a prompt as a chat template renders it; elsewhere the marks of templates are words like others. */
  readonly rendered?: boolean
  /** The question stands in another message: this one may end with its last block. */
  readonly asked?: boolean
  /** What the tool is called whose result it is. */
  readonly tool?: string | undefined
  /** What it was asked for it lists in an order of its own, as by date. */
  readonly sorted?: boolean
}

/** Everything in a text that may be part of a list, in order and wherever it stands. */
export interface Marks {
  readonly text: string
  readonly turns: readonly Turn[]
  readonly tags: readonly Tag[]
  readonly labels: readonly Label[]
  readonly fences: readonly Fence[]
  /** Lines of `---` or `===`, each from its beginning. */
  readonly rules: readonly Place[]
  /** Lines that may begin with a bullet or a number. */
  readonly bullets: readonly Place[]
  /** Where an array or object of JSON may begin: first in a line, behind a tag there, or behind words and a colon. */
  readonly values: readonly Place[]
  /** Lines of three quotes. */
  readonly quotes: readonly Place[]
  /** Lines that begin with a field which holds a text, as `Content: …`. */
  readonly contents: readonly Place[]
  /** Where bold words of HTML stand first in a line but for line breaks, as in `<br><b>Content from a.pdf: </b>`. */
  readonly bolds: readonly Place[]
  /** Marks that open a block which another one closes, as `[webpage 1 begin]`. */
  readonly openings: readonly Opening[]
  /** The text is nothing but material, like a tool's result: where it ends, the last block ends. */
  readonly whole: boolean
  /** The question stands in another message: this one may end with its last block. */
  readonly asked: boolean
  /** What kind of tool said it, where one did and it has a name. */
  readonly source: ToolKind | undefined
}

/** A place in a text. */
export interface Place {
  readonly start: number
}

// a million tokens are some 100,000 lines; a text with more marks than lines like these is an attack and holds no list
const MOST_MARKS = 100_000
// as is one of many times as many lines, of which each is read
const MOST_LINES = 300_000
// a text that speaks of its blocks in more forms than these is none that we know
const MOST_FORMS = 24

// deeper is code, but fences stand deeper inside Markdown lists, and words behind a blank line inside a template's loop
const MOST_LABEL_INDENT = 3
const MOST_LOOP_INDENT = 8
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

// so far behind a line's beginning a colon may stand that ends a field's name or announces a value
const FURTHEST_COLON = 61

const ANNOUNCED_VALUE = /[\p{L}\p{N} _#*()-]{1,60}[:：][ \t]{0,4}(?:\*\*)?[ \t]{0,4}(?=[[{])/uy
const MOST_SIGNS_BEFORE_VALUE = 10

const BOLD = /(?:<br ?\/?>[ \t]?){0,4}(?=<b>)/iy
const TAGGED_VALUE = /(?:<[A-Za-z][^<>\n]{0,200}>[ \t]{0,4}){1,4}(?=[[{])/y

/** Reads a text once; undefined when it holds absurdly many marks. */
export function findMarks(
  text: string,
  { whole = false, rendered = false, asked = false, tool, sorted = false }: TextTraits = {},
): Marks | undefined {
  const tags = findTags(text)
  const turns = rendered ? findTurns(text) : [{ start: 0, end: text.length }]
  if (tags === undefined || turns === undefined) return undefined
  const reader = new LineReader(text)
  let lines = 0
  for (let line = 0; line < text.length; line = findLineEnd(text, line) + 1) {
    reader.read(line)
    if (++lines > MOST_LINES || (lines % 256 === 0 && reader.count > MOST_MARKS) || reader.forms.size > MOST_FORMS)
      return undefined
  }
  const { fences, rules, bullets, values, quotes, contents, bolds, openings } = reader
  const labels = addInlineHeads(text, reader.labels)
  return {
    text,
    turns,
    tags,
    labels,
    fences,
    rules,
    bullets,
    values,
    quotes,
    contents,
    bolds,
    openings,
    whole,
    asked,
    source: sorted ? 'read' : toToolKind(tool),
  }
}

class LineReader {
  readonly #text: string
  readonly labels: Label[] = []
  readonly fences: Fence[] = []
  readonly rules: Place[] = []
  readonly bullets: Place[] = []
  readonly values: Place[] = []
  readonly quotes: Place[] = []
  readonly contents: Place[] = []
  readonly bolds: Place[] = []
  readonly openings: Opening[] = []
  readonly forms = new Set<string>()
  readonly #colons: NextColon

  constructor(text: string) {
    this.#text = text
    this.#colons = new NextColon(text)
  }

  get count(): number {
    const marks = [
      this.labels,
      this.fences,
      this.rules,
      this.bullets,
      this.values,
      this.contents,
      this.bolds,
      this.quotes,
      this.openings,
    ]
    return marks.reduce((sum, { length }) => sum + length, 0)
  }

  read(line: number): void {
    const text = this.#text
    const start = skipIndent(text, line)
    const code = text.charCodeAt(start)
    if (start === text.length || code === LINE_FEED) return
    if (code === BACKTICK || code === TILDE) {
      const fence = readFence(text, start)
      if (fence !== undefined) this.fences.push(fence)
      return
    }
    this.#readOpening(code, start)
    if (start - line > MOST_LABEL_INDENT) {
      this.#readLoopLabel(line, start)
      return
    }
    if ((code === HYPHEN || code === EQUALS) && isRule(text, start, findLineEnd(text, start)))
      this.rules.push({ start: line })
    else if (isBullet(code) || isDigit(code)) this.bullets.push({ start: line })
    this.#readLabel(line, start)
  }

  #readOpening(code: number, start: number): void {
    if (code === OPEN_BRACKET || code === LESS || code === EQUALS || code === HYPHEN) {
      const opening = readOpening(this.#text, start)
      if (opening !== undefined) this.openings.push(opening)
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) this.values.push({ start })
    else if (code === LESS) this.#readTaggedValue(start)
    else if (code === QUOTE && this.#text.startsWith('"""', start)) this.quotes.push({ start })
  }

  #readTaggedValue(start: number): void {
    BOLD.lastIndex = start
    const bold = BOLD.exec(this.#text)
    if (bold !== null) this.bolds.push({ start: start + bold[0].length })
    TAGGED_VALUE.lastIndex = start
    const tags = TAGGED_VALUE.exec(this.#text)
    if (tags !== null) this.values.push({ start: start + tags[0].length })
  }

  /** A label as deep as the loop of a template that wrote it: all of its list are. */
  #readLoopLabel(line: number, start: number): void {
    const label =
      start - line <= MOST_LOOP_INDENT && isBehindBlank(this.#text, line) ? readLabel(this.#text, start) : undefined
    if (label === undefined || label.bare || label.idStart === label.idEnd) return
    const form = `${label.form} ${start - line}`
    this.labels.push({ ...label, form })
    this.forms.add(form)
  }

  #readLabel(line: number, start: number): void {
    const colon = this.#colons.from(start)
    const hasColon = colon <= start + FURTHEST_COLON
    const label =
      readLabel(this.#text, start) ??
      (hasColon && mayEndName(this.#text, colon) ? this.#readRecord(line, start) : undefined)
    if (label !== undefined) {
      this.labels.push(label)
      this.forms.add(label.form)
    } else if (hasColon && mayAnnounceValue(this.#text, colon)) {
      ANNOUNCED_VALUE.lastIndex = start
      const announcement = ANNOUNCED_VALUE.exec(this.#text)
      if (announcement !== null) this.values.push({ start: start + announcement[0].length })
    }
  }

  #readRecord(line: number, start: number): Label | undefined {
    const head = readRecordHead(this.#text, line, start)
    if (head !== 'content') return head && toRecordLabel(this.#text, start, head)
    this.contents.push({ start })
    return undefined
  }
}

/** Where the next colon is, asked from ever later places: most lines have none near their beginning. */
class NextColon {
  readonly #text: string
  #next = -1
  #nextWide = -1

  constructor(text: string) {
    this.#text = text
  }

  from(start: number): number {
    if (this.#next < start) this.#next = this.#find(':', start)
    if (this.#nextWide < start) this.#nextWide = this.#find('：', start)
    return Math.min(this.#next, this.#nextWide)
  }

  #find(colon: ':' | '：', start: number): number {
    const found = this.#text.indexOf(colon, start)
    return found < 0 ? Number.POSITIVE_INFINITY : found
  }
}

/** Whether a field's name may end with this colon: white space follows, or a sign of Chinese. */
function mayEndName(text: string, colon: number): boolean {
  const at = text.charCodeAt(colon + 1) === ASTERISK ? colon + 3 : colon + 1
  const code = text.charCodeAt(at)
  return isSpace(code) || code > 127
}

/** Whether a value of JSON stands behind this colon, but for the few signs that {@link ANNOUNCED_VALUE} passes over. */
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

function isBehindBlank(text: string, line: number): boolean {
  const end = text[line - 2] === '\r' ? line - 2 : line - 1
  return text[end - 1] === '\n'
}

function skipIndent(text: string, line: number): number {
  let at = line
  while (at - line < MOST_FENCE_INDENT && isBlank(text.charCodeAt(at))) at++
  return at
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
