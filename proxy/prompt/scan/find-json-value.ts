import { tryJson } from '#engine-adapters/json-object.ts'
/** An element of an array in JSON text. */
export interface JsonElement {
  readonly start: number
  readonly end: number
  /** Its members if it is an object (the last one of duplicate names). Undefined for other values. */
  readonly members: ReadonlyMap<string, JsonMember> | undefined
}

/** Position of a member's value. Strings include their quotes. */
export interface JsonMember {
  /** Where its name begins, with its quote. */
  readonly keyStart: number
  readonly start: number
  readonly end: number
  /** The members of its value, if that is an object. */
  readonly members: ReadonlyMap<string, JsonMember> | undefined
}

/** A JSON value in a text, and its arrays with more than one element. */
export interface JsonValue {
  readonly end: number
  readonly arrays: readonly JsonArray[]
}

interface JsonArray {
  /** Its key in the object that contains it. Undefined for the outermost value, '' inside another array. */
  readonly name: string | undefined
  readonly elements: readonly JsonElement[]
}

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44
const COLON = 58

// results are nested two or three levels deep, and no prompt has more of them than this
const MOST_DEPTH = 24
const MOST_ELEMENTS = 10_000
// and no result has more fields than this
const MOST_MEMBERS = 100

const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y

/** Reads the JSON value at `start`. If there is none, returns the offset where reading stopped. */
export function readJsonValue(text: string, start: number): JsonValue | number {
  const reader = new Reader(text, start)
  if (!reader.read(0)) return reader.at
  // the reader only finds borders; the parser checks numbers, escapes and control characters
  const isJson = tryJson(text.slice(start, reader.at)) !== undefined
  return isJson ? { end: reader.at, arrays: reader.arrays } : reader.at
}

class Reader {
  readonly arrays: JsonArray[] = []
  readonly #text: string
  at: number
  #members: Map<string, JsonMember> | undefined

  constructor(text: string, start: number) {
    this.#text = text
    this.at = start
  }

  /** Skips one value. If there is none, returns false and stops at the error. */
  read(depth: number, name?: string): boolean {
    this.#members = undefined
    const code = this.#text.charCodeAt(this.at)
    if (code === QUOTE) return this.#readString()
    if (code !== OPEN_BRACE && code !== OPEN_BRACKET) return this.#readLiteral()
    if (depth === MOST_DEPTH) return false
    this.at++
    return code === OPEN_BRACE ? this.#readObject(depth) : this.#readArray(depth, name)
  }

  #readArray(depth: number, name: string | undefined): boolean {
    const elements: JsonElement[] = []
    if (this.#skipSpace() === CLOSE_BRACKET) return this.#pass()
    for (;;) {
      const start = this.at
      if (elements.length === MOST_ELEMENTS || !this.read(depth + 1, '')) return false
      elements.push({ start, end: this.at, members: this.#members })
      const next = this.#skipSpace()
      if (next === CLOSE_BRACKET) break
      if (next !== COMMA) return false
      this.at++
      this.#skipSpace()
    }
    if (elements.length > 1) this.arrays.push({ name, elements })
    this.#members = undefined
    return this.#pass()
  }

  #readObject(depth: number): boolean {
    const members = new Map<string, JsonMember>()
    if (this.#skipSpace() === CLOSE_BRACE) return this.#pass()
    while (members.size < MOST_MEMBERS) {
      const keyStart = this.at
      if (this.#text.charCodeAt(keyStart) !== QUOTE || !this.#readString()) return false
      // we look for no name this long
      const key = this.at - keyStart < 40 ? this.#text.slice(keyStart + 1, this.at - 1) : ''
      if (this.#skipSpace() !== COLON) return false
      this.at++
      this.#skipSpace()
      const start = this.at
      if (!this.read(depth + 1, key)) return false
      members.set(key, { keyStart, start, end: this.at, members: this.#members })
      const next = this.#skipSpace()
      if (next === CLOSE_BRACE) {
        this.#members = members
        return this.#pass()
      }
      if (next !== COMMA) return false
      this.at++
      this.#skipSpace()
    }
    return false
  }

  #pass(): boolean {
    this.at++
    return true
  }

  #skipSpace(): number {
    let code = this.#text.charCodeAt(this.at)
    while (code === 32 || code === 10 || code === 13 || code === 9) code = this.#text.charCodeAt(++this.at)
    return code
  }

  #readString(): boolean {
    const text = this.#text
    for (let at = this.at + 1; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === BACKSLASH) at++
      else if (code < 32 || code === QUOTE) {
        this.at = code === QUOTE ? at + 1 : at
        return code === QUOTE
      }
    }
    this.at = text.length
    return false
  }

  #readLiteral(): boolean {
    LITERAL.lastIndex = this.at
    const match = LITERAL.exec(this.#text)
    if (match === null) return false
    this.at += match[0].length
    return true
  }
}
