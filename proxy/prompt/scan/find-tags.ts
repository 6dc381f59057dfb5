import { isSpace } from './find-edges.ts'

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

const LINE_FEED = 10

// bounded, so that a broken tag costs little: an attempt ends at a `<` outside quotes
const NAME = '[A-Za-z][\\w:.-]*'
const ATTRIBUTE = `([^\\s<>"'=/]+)(?:\\s*=\\s*(?:"([^"\\n]{0,2000})"|'([^'\\n]{0,2000})'|([^\\s<>"']+)))?`
const TAG = new RegExp(`<(?:/(${NAME})\\s*|(${NAME})(?:\\s+${ATTRIBUTE}){0,200}\\s*(/?))>`, 'y')
const ATTRIBUTES = new RegExp(ATTRIBUTE, 'g')

/** Returns all tags in order, paired with one stack per name. Undefined if there are absurdly many. */
export function findTags(text: string): Tag[] | undefined {
  const pairs = new TagPairs()
  let previous: Tag | undefined
  for (let start = text.indexOf('<'); start !== -1; start = text.indexOf('<', start)) {
    TAG.lastIndex = start
    const match = TAG.exec(text)
    const at = start
    start = match === null ? at + 1 : TAG.lastIndex
    if (match === null) continue
    const [, closed, opened = closed] = match
    const begins = beginsLine(text, at, previous)
    const tag = {
      start: at,
      end: start,
      name: opened!.toLowerCase(),
      closing: closed !== undefined,
      begins,
      partner: undefined,
    }
    if (match.at(-1) === '/') pairs.keepLone(tag)
    else if (pairs.add(tag)) previous = tag
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
  keepLone(tag: Tag): void {
    if (this.#lone.size < MOST_NAMES || this.#lone.has(tag.name)) this.#lone.set(tag.name, tag)
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

function beginsLine(text: string, start: number, previous: Tag | undefined): boolean {
  const floor = previous?.end ?? 0
  for (let at = start; at > floor; at--) {
    const code = text.charCodeAt(at - 1)
    if (code === LINE_FEED) return true
    if (!isSpace(code)) return false
  }
  return previous?.begins ?? true
}

/** Returns the attributes of an opening tag that {@link findTags} found. */
export function readAttributes(text: string, tag: Tag): Attribute[] {
  const from = tag.start + 1 + tag.name.length
  return Array.from(text.slice(from, tag.end).matchAll(ATTRIBUTES), (match) => {
    const [whole, name, ...values] = match
    const value = values.find((one) => one !== undefined) ?? ''
    const end = from + match.index + whole.length
    const isQuoted = values[2] === undefined && whole !== name
    const valueEnd = isQuoted ? end - 1 : end
    return { name: name!.toLowerCase(), start: end - whole.length, valueStart: valueEnd - value.length, valueEnd, end }
  })
}
