import { createHash, hash } from 'node:crypto'
import { tryJson } from '#engine-adapters/json-object.ts'
import { addTo } from '#index/group-by.ts'
import type { Span } from '../../common/json/json-spans.ts'
import type { HeavyTurns } from './event-loop.ts'
import { lightBytes } from './work-limits.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
const LESS = 0x3c
const COLON = 0x3a
const COMMA = 0x2c

/** About a millisecond's work. */
const sliceBytes = 512 * 1024
/** A quote further away than this is found faster by a native search. */
const nearBytes = 64
/** Length of the longest escape of a character in a name, as in `\u0061`. */
const longestEscape = 6

/**
 * Scans a body in slices, and waits for a turn before each. Linear, and about as fast as copying the body twice; a light
 * one is scanned at once, and in a tenth of the time.
 * Counts cover the whole body, whether it is JSON or not.
 */
export async function scanBody(
  bytes: Buffer,
  wanted: ReadonlySet<string>,
  turns: Pick<HeavyTurns, 'take'>,
): Promise<BodyScan> {
  const scan = new BodyScan(bytes, wanted)
  // of a body that is read at once it is computed when it is wanted, which is seldom
  const sum = bytes.length > sliceBytes ? createHash('sha256') : undefined
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (sum) await turns.take()
    const end = Math.min(bytes.length, at + sliceBytes)
    scan.read(end)
    sum?.update(bytes.subarray(at, end))
  }
  const digest = sum?.digest('base64url')
  if (digest !== undefined) scan.digest = () => digest
  return scan
}

/** Counts of what a JSON body holds, taken without parsing it. Spans are in bytes. */
export class BodyScan {
  readonly bytes: Buffer
  /** objects and arrays */
  containers = 0
  strings = 0
  /** outside strings: they separate array items and object members */
  commas = 0
  /** the deepest */
  depth = 0
  /** line breaks and `<` in strings; strings of a light body are not read through, so that fewer are counted */
  marks = 0
  /** where the object's members start; undefined if the body is not an object */
  membersStart: number | undefined
  isEmpty = true
  /** the values of the wanted members, including duplicates, in order */
  readonly members: Map<string, Span[]> = new Map()
  readonly #wanted: ReadonlySet<string>
  readonly #longestName: number
  #at = 0
  #isInString = false
  #stringStart = 0
  #level = 0
  #isBroken = false
  #isOver = false
  /** in the outermost object: the last name read, and where its value starts */
  #name: Span | undefined
  #valueStart = -1
  /** end of its last byte that is not white space */
  #valueEnd = -1

  constructor(bytes: Buffer, wanted: ReadonlySet<string>) {
    this.bytes = bytes
    this.#wanted = wanted
    this.#longestName = longestEscape * Math.max(...[...wanted].map((name) => name.length))
    // a byte order mark
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.#at = 3
  }

  /** Every string and container is closed, and nothing follows the first value. */
  get isWhole(): boolean {
    return this.#level === 0 && !this.#isInString && !this.#isBroken && this.#at > 0
  }

  /** Returns the SHA-256 of all bytes. */
  digest = (): string => hash('sha256', this.bytes, 'base64url')

  /** Reads up to `end`, and beyond it to complete an escape. */
  read(end: number): void {
    while (this.#at < end) {
      if (this.#isInString) this.#readString(end)
      else this.#readStructure(end)
    }
  }

  #readString(end: number): void {
    const bytes = this.bytes
    const isLight = bytes.length <= lightBytes
    let at = this.#at
    let marks = 0
    for (const near = isLight ? Math.min(at + nearBytes, end) : end; at < near; at++) {
      const code = bytes[at]
      if (code === BACKSLASH) {
        at += 1
        if (bytes[at] === LETTER_N) marks += 1
      } else if (code === LESS) marks += 1
      else if (code === QUOTE) {
        this.#isInString = false
        at += 1
        break
      }
    }
    this.marks += marks
    this.#at = isLight && this.#isInString ? this.#skipToQuote(at) : at
    if (!this.#isInString) this.#endString(at)
  }

  /** Returns where the next quote is, or what follows one that is escaped. `at` is no part of an escape. */
  #skipToQuote(at: number): number {
    const { bytes } = this
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return bytes.length
    let run = quote
    while (run > at && bytes[run - 1] === BACKSLASH) run--
    return quote + ((quote - run) & 1)
  }

  #endString(end: number): void {
    if (this.#level === 0) this.#isOver = true
    if (this.#level !== 1) return
    // before a colon, it is a name
    if (this.#valueStart < 0) this.#name = { start: this.#stringStart, end }
    this.#valueEnd = end
  }

  #readStructure(end: number): void {
    const bytes = this.bytes
    for (let at = this.#at; at < end; at++) {
      const code = bytes[at]!
      if (code <= 0x20) continue
      if (this.#isOver) this.#isBroken = true
      if (code === COMMA) this.commas += 1
      if (code === QUOTE) {
        this.strings += 1
        this.#isInString = true
        this.#stringStart = at
        this.#beginValue(at)
        this.#at = at + 1
        return
      }
      // braces and brackets differ in a single bit
      const bracket = code & 0xdf
      if (bracket === 0x5b) this.#open(at, code)
      else if (bracket === 0x5d) this.#close(at)
      else if (this.#level === 1) this.#readOutermost(at, code)
    }
    this.#at = end
  }

  #open(at: number, code: number): void {
    this.#beginValue(at)
    if (this.#level === 0 && code === 0x7b) this.membersStart = at + 1
    this.containers += 1
    this.#level += 1
    if (this.#level > this.depth) this.depth = this.#level
  }

  #close(at: number): void {
    if (this.#level === 1) this.#endMember()
    this.#level -= 1
    if (this.#level === 1) this.#valueEnd = at + 1
    if (this.#level === 0) this.#isOver = true
    if (this.#level < 0) this.#isBroken = true
  }

  /** Reads separators of the outermost object, and numbers and keywords in it. */
  #readOutermost(at: number, code: number): void {
    if (code === COLON) this.#valueStart = 0
    else if (code === COMMA) this.#endMember()
    else {
      this.#beginValue(at)
      this.#valueEnd = at + 1
    }
  }

  #beginValue(at: number): void {
    if (this.#level === 1 && this.#valueStart === 0) this.#valueStart = at
  }

  #endMember(): void {
    const { start, end } = this.#name ?? { start: 0, end: 0 }
    if (this.membersStart !== undefined && this.#valueStart > 0 && end > 0) {
      this.isEmpty = false
      const name = end - start - 2 <= this.#longestName ? this.#decode(start, end) : undefined
      if (name !== undefined && this.#wanted.has(name)) {
        addTo(this.members, name, { start: this.#valueStart, end: this.#valueEnd })
      }
    }
    this.#name = undefined
    this.#valueStart = -1
  }

  #decode(start: number, end: number): string | undefined {
    const text = this.bytes.toString('latin1', start, end)
    return text.includes('\\') ? (tryJson(text) as string | undefined) : text.slice(1, -1)
  }
}
