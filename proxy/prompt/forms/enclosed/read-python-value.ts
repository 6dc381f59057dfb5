import { findContentStart } from '../../scan/find-edges.ts'

/** A value as Python prints it: a text, an object with named members, a list, or anything else. */
export interface PythonValue {
  readonly start: number
  readonly end: number
  readonly kind: 'text' | 'object' | 'list' | 'other'
  /** Those of an object, by name. */
  readonly members: ReadonlyMap<string, PythonValue>
  /** Those of a list. */
  readonly elements: readonly PythonValue[]
}

// no kind of value with texts is nested deeper
const MOST_DEPTH = 8
const MOST_VALUES = 20_000
const LONGEST_NAME = 64
const NO_MEMBERS: ReadonlyMap<string, PythonValue> = new Map()
const CLOSINGS: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' }
const WORD = /[A-Za-z_][\w.]{0,80}|[-+]?[\d.][\w.+-]{0,40}/y
const KEYWORD = /([A-Za-z_]\w{0,60})=/y

/** Reads the value that begins at `start`. Undefined if Python does not print such a value. */
export function readPythonValue(text: string, start: number, limit: number): PythonValue | undefined {
  return new Reader(text, limit).read(start, 0)
}

class Reader {
  readonly #text: string
  readonly #limit: number
  #count = 0

  constructor(text: string, limit: number) {
    this.#text = text
    this.#limit = limit
  }

  read(start: number, depth: number): PythonValue | undefined {
    if (depth > MOST_DEPTH || start >= this.#limit || ++this.#count > MOST_VALUES) return undefined
    const sign = this.#text[start]!
    if (sign === "'" || sign === '"') return this.#readText(start)
    if (sign === '[' || sign === '{') return this.#readItems(start, start, depth)
    WORD.lastIndex = start
    const word = WORD.exec(this.#text)?.[0]
    if (word === undefined) return undefined
    const end = start + word.length
    if (this.#text[end] === '(') return this.#readItems(start, end, depth)
    return { start, end, kind: 'other', members: NO_MEMBERS, elements: [] }
  }

  #readText(start: number): PythonValue | undefined {
    const quote = this.#text[start]
    for (let at = start + 1; at < this.#limit; at++) {
      const sign = this.#text[at]
      if (sign === '\n') return undefined
      if (sign === '\\') at++
      else if (sign === quote) return { start, end: at + 1, kind: 'text', members: NO_MEMBERS, elements: [] }
    }
    return undefined
  }

  /** Reads what is between brackets that open at `open`. A name may come before them, as in `Document(id=3)`. */
  #readItems(start: number, open: number, depth: number): PythonValue | undefined {
    const sign = this.#text[open]!
    const members = new Map<string, PythonValue>()
    const elements: PythonValue[] = []
    let at: number | undefined = this.#skip(open + 1)
    while (at !== undefined && this.#text[at] !== CLOSINGS[sign])
      at = this.#readItem(sign, at, depth, members, elements)
    if (at === undefined || at >= this.#limit) return undefined
    return { start, end: at + 1, kind: sign === '[' ? 'list' : 'object', members, elements }
  }

  /** Reads one value between brackets, with its name. Returns the start of the next value or of the closing bracket. */
  #readItem(
    sign: string,
    at: number,
    depth: number,
    members: Map<string, PythonValue>,
    elements: PythonValue[],
  ): number | undefined {
    const name = sign === '[' ? undefined : this.#readName(sign, at)
    if (sign === '{' && name === undefined) return undefined
    const value = this.read(name?.end ?? at, depth + 1)
    if (value === undefined) return undefined
    if (name === undefined) elements.push(value)
    else members.set(name.name, value)
    const end = this.#skip(value.end)
    if (this.#text[end] === ',') return this.#skip(end + 1)
    return this.#text[end] === CLOSINGS[sign] ? end : undefined
  }

  /** Reads the name of a member: `'title': ` or `title=`. */
  #readName(sign: string, at: number): { readonly name: string; readonly end: number } | undefined {
    if (sign === '(') {
      KEYWORD.lastIndex = at
      const name = KEYWORD.exec(this.#text)?.[1]
      return name === undefined ? undefined : { name, end: at + name.length + 1 }
    }
    const quote = this.#text[at]
    const key = quote === "'" || quote === '"' ? this.#readText(at) : undefined
    const colon = key === undefined ? -1 : this.#skip(key.end)
    if (key === undefined || key.end - at > LONGEST_NAME || this.#text[colon] !== ':') return undefined
    return { name: this.#text.slice(at + 1, key.end - 1), end: this.#skip(colon + 1) }
  }

  #skip(at: number): number {
    return findContentStart(this.#text, at, this.#limit)
  }
}
