import { findContentStart, isSpace } from './find-edges.ts'

/** A tag in the text. Self-closing tags are left out, unless another tag closes them. */
export interface Tag {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly closing: boolean
  /** It begins its line, or is preceded there only by other such tags. */
  readonly begins: boolean
  /** The other tag of the pair, if there is one. */
  partner: Tag | undefined
}

/** An attribute of a tag. The value's offsets exclude its quotes. */
interface Attribute {
  readonly name: string
  readonly start: number
  readonly valueStart: number
  readonly valueEnd: number
  readonly end: number
}

// a prompt with more tags than this is an attack, and the text then counts as having none of our forms
const MOST_TAGS = 250_000
const MOST_NAMES = 2_000

const LESS = 60
const GREATER = 62
const SLASH = 47
const EQUALS = 61
const QUOTE = 34
const APOSTROPHE = 39
const LINE_FEED = 10

/** Returns all tags in order, paired with one stack per name. Undefined if there are absurdly many. */
export function findTags(text: string): Tag[] | undefined {
  const pairs = new TagPairs()
  const mayCloseThemselves = text.includes('/>')
  let previous: Tag | undefined
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at)) {
    const start = at
    const tag = readTag(text, start, previous)
    at = tag?.end ?? start + 1
    if (tag === undefined && mayCloseThemselves) pairs.keepLone(readTag(text, start, previous, true))
    else if (tag !== undefined && pairs.add(tag)) previous = tag
    if (pairs.count > MOST_TAGS) return undefined
  }
  return pairs.inOrder()
}

class TagPairs {
  readonly #tags: Tag[] = []
  readonly #open = new Map<string, Tag[]>()
  /** The last self-closing tag of each name. */
  readonly #lone = new Map<string, Tag>()
  #isSorted = true

  get count(): number {
    return this.#tags.length
  }

  /** Keeps a tag and pairs it with its opening tag. Returns false if there are too many names. */
  add(tag: Tag): boolean {
    const stack = this.#stackOf(tag.name)
    if (stack === undefined) return false
    this.#tags.push(tag)
    if (!tag.closing) stack.push(tag)
    else pair(stack.pop() ?? this.#takeLone(tag.name), tag)
    return true
  }

  /**
   * Keeps a self-closing tag, because some templates write `<document source="a.md"/>` before a text and `</document>`
   * after it.
   */
  keepLone(tag: Tag | undefined): void {
    if (tag !== undefined && (this.#lone.size < MOST_NAMES || this.#lone.has(tag.name))) this.#lone.set(tag.name, tag)
  }

  inOrder(): Tag[] {
    return this.#isSorted ? this.#tags : this.#tags.sort((a, b) => a.start - b.start)
  }

  #takeLone(name: string): Tag | undefined {
    const tag = this.#lone.get(name)
    if (tag === undefined) return undefined
    this.#lone.delete(name)
    this.#tags.push(tag)
    this.#isSorted = false
    return tag
  }

  #stackOf(name: string): Tag[] | undefined {
    let stack = this.#open.get(name)
    if (stack === undefined && this.#open.size < MOST_NAMES) {
      stack = []
      this.#open.set(name, stack)
    }
    return stack
  }
}

function pair(opening: Tag | undefined, closing: Tag): void {
  if (opening === undefined) return
  opening.partner = closing
  closing.partner = opening
}

/** Reads the tag at `start`. Reads self-closing tags only if `closesItself`. */
function readTag(text: string, start: number, previous: Tag | undefined, closesItself = false): Tag | undefined {
  const closing = text.charCodeAt(start + 1) === SLASH
  const nameStart = closing ? start + 2 : start + 1
  const nameEnd = findNameEnd(text, nameStart)
  if (nameEnd === nameStart) return undefined
  if (closing && closesItself) return undefined
  const end = closing ? findClosingEnd(text, nameEnd) : findOpeningEnd(text, nameEnd, closesItself)
  if (end === -1) return undefined
  const name = text.slice(nameStart, nameEnd).toLowerCase()
  return { start, end, name, closing, begins: beginsLine(text, start, previous), partner: undefined }
}

function beginsLine(text: string, start: number, previous: Tag | undefined): boolean {
  const floor = previous?.end ?? 0
  for (let at = start; at > floor; at--) {
    const code = text.charCodeAt(at - 1)
    if (code === LINE_FEED) return true
    if (!isSpace(code)) return false
  }
  return previous?.begins ?? true
}

function findClosingEnd(text: string, nameEnd: number): number {
  const at = findContentStart(text, nameEnd, text.length)
  return text.charCodeAt(at) === GREATER ? at + 1 : -1
}

// linear, although a broken tag is read again from its next `<`: the states outside, "quoted" and 'quoted' change only
// at a quote, and `<` outside quotes ends the attempt, so no character is read more than three times
function findOpeningEnd(text: string, nameEnd: number, closesItself: boolean): number {
  let at = nameEnd
  for (;;) {
    const next = findContentStart(text, at, text.length)
    const code = text.charCodeAt(next)
    if (code === GREATER) return closesItself ? -1 : next + 1
    if (closesItself && code === SLASH && text.charCodeAt(next + 1) === GREATER) return next + 2
    if (next === at) return -1
    const attribute = readAttribute(text, next)
    if (attribute === undefined) return -1
    at = attribute.end
  }
}

/** Returns the attributes of an opening tag that {@link findTags} found. */
export function readAttributes(text: string, tag: Tag): Attribute[] {
  const attributes: Attribute[] = []
  let at = findContentStart(text, tag.start + 1 + tag.name.length, tag.end)
  for (;;) {
    const attribute = readAttribute(text, at)
    if (attribute === undefined) return attributes
    attributes.push(attribute)
    at = findContentStart(text, attribute.end, tag.end)
  }
}

function readAttribute(text: string, start: number): Attribute | undefined {
  const nameEnd = findWordEnd(text, start, false)
  if (nameEnd === start) return undefined
  const name = text.slice(start, nameEnd).toLowerCase()
  const equals = findContentStart(text, nameEnd, text.length)
  if (text.charCodeAt(equals) !== EQUALS) return { name, start, valueStart: nameEnd, valueEnd: nameEnd, end: nameEnd }
  const valueStart = findContentStart(text, equals + 1, text.length)
  const quote = text.charCodeAt(valueStart)
  if (quote === QUOTE || quote === APOSTROPHE) {
    const valueEnd = findQuote(text, valueStart + 1, quote)
    return valueEnd === -1 ? undefined : { name, start, valueStart: valueStart + 1, valueEnd, end: valueEnd + 1 }
  }
  const valueEnd = findWordEnd(text, valueStart, true)
  return valueEnd === valueStart ? undefined : { name, start, valueStart, valueEnd, end: valueEnd }
}

function findQuote(text: string, from: number, quote: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === LINE_FEED) return -1
  }
  return -1
}

// the name of an attribute, or its unquoted value, which may contain `=` and `/`
function findWordEnd(text: string, from: number, value: boolean): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LESS || code === GREATER || code === QUOTE || code === APOSTROPHE || isSpace(code)) break
    if (!value && (code === EQUALS || code === SLASH)) break
  }
  return at
}

function findNameEnd(text: string, from: number): number {
  if (!isLetter(text.charCodeAt(from))) return from
  let at = from + 1
  while (at < text.length && isNameCode(text.charCodeAt(at))) at++
  return at
}

function isNameCode(code: number): boolean {
  // digits and `:`, `-` and `.`, `_`
  return isLetter(code) || (code >= 48 && code <= 58) || code === 45 || code === 46 || code === 95
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}
