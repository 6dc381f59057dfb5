import { tryJson } from '#engine-adapters/json-object.ts'
import type { Span } from '../../common/json/json-spans.ts'
import { matchAt } from './find-edges.ts'

/** An element of an array in JSON text, or the value of a member. Strings include their quotes. */
export interface JsonElement extends Span {
  /** Its members if it is an object (the last one of duplicate names). Undefined for other values. */
  readonly members: ReadonlyMap<string, JsonElement> | undefined
}

/** A JSON value in a text, and its arrays with more than one element; none if it is no JSON. */
export interface JsonValue {
  /** Where it ends, or where reading stopped. */
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

// results are nested two or three levels deep, and no prompt has more of them than this
const MOST_DEPTH = 24
const MOST_ELEMENTS = 10_000
// and no result has more fields than this
const MOST_MEMBERS = 100

const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y

/** Reads the JSON value at `start`. */
export function readJsonValue(text: string, start: number): JsonValue {
  const reader = new Reader(text, start)
  // the reader only finds borders; the parser checks numbers, escapes and control characters
  const isJson = reader.read(0) && tryJson(text.slice(start, reader.at)) !== undefined
  return { end: reader.at, arrays: isJson ? reader.arrays : [] }
}

class Reader {
  readonly arrays: JsonArray[] = []
  readonly #text: string
  at: number
  /** The members of the value that was read last, if it is an object. */
  #members: Map<string, JsonElement> | undefined

  constructor(text: string, start: number) {
    this.#text = text
    this.at = start
  }

  /** Skips one value. If there is none, returns false and stops at the error. */
  read(depth: number, name?: string): boolean {
    this.#members = undefined
    const sign = this.#text[this.at]
    if (sign === '"') return this.#readString()
    if (sign !== '{' && sign !== '[') return this.#readLiteral()
    if (depth === MOST_DEPTH) return false
    this.at++
    return sign === '{' ? this.#readObject(depth) : this.#readArray(depth, name)
  }

  #readArray(depth: number, name: string | undefined): boolean {
    const elements: JsonElement[] = []
    while (!this.#take(']')) {
      if ((elements.length > 0 && !this.#take(',')) || elements.length === MOST_ELEMENTS) return false
      const start = this.#skipSpace()
      if (!this.read(depth + 1, '')) return false
      elements.push({ start, end: this.at, members: this.#members })
    }
    if (elements.length > 1) this.arrays.push({ name, elements })
    this.#members = undefined
    return true
  }

  #readObject(depth: number): boolean {
    const members = new Map<string, JsonElement>()
    while (!this.#take('}')) {
      if ((members.size > 0 && !this.#take(',')) || members.size === MOST_MEMBERS) return false
      const keyStart = this.#skipSpace()
      if (this.#text[keyStart] !== '"' || !this.#readString()) return false
      // we look for no name this long
      const key = this.at - keyStart < 40 ? this.#text.slice(keyStart + 1, this.at - 1) : ''
      if (!this.#take(':')) return false
      const start = this.#skipSpace()
      if (!this.read(depth + 1, key)) return false
      members.set(key, { start, end: this.at, members: this.#members })
    }
    this.#members = members.size > 0 ? members : undefined
    return true
  }

  /** Skips white space, and this sign if it is next. */
  #take(sign: string): boolean {
    if (this.#text[this.#skipSpace()] !== sign) return false
    this.at++
    return true
  }

  #skipSpace(): number {
    let code = this.#text.charCodeAt(this.at)
    while (code === 32 || code === 10 || code === 13 || code === 9) code = this.#text.charCodeAt(++this.at)
    return this.at
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
    if (!matchAt(LITERAL, this.#text, this.at)) return false
    this.at = LITERAL.lastIndex
    return true
  }
}
