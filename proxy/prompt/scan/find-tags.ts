import { getOrMake } from '#index/get-or-make.ts'
import { isSpace, matchAt } from './find-edges.ts'

/** A tag in the text. Self-closing tags are left out. */
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
export interface Attribute {
  readonly name: string
  readonly valueStart: number
  readonly valueEnd: number
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
  const tags: Tag[] = []
  const unclosed = new Map<string, Tag[]>()
  for (let start = text.indexOf('<'); start !== -1; start = text.indexOf('<', start)) {
    const match = matchAt(TAG, text, start)
    const at = start
    start = match === null ? at + 1 : TAG.lastIndex
    if (match === null || match.at(-1) === '/') continue
    const [, closed, opened = closed] = match
    const name = opened!.toLowerCase()
    if (!unclosed.has(name) && unclosed.size === MOST_NAMES) continue
    const stack = getOrMake(unclosed, name, () => [])
    const begins = beginsLine(text, at, tags.at(-1))
    const tag: Tag = { start: at, end: start, name, closing: closed !== undefined, begins, partner: undefined }
    tags.push(tag)
    if (tag.closing) pair(stack.pop(), tag)
    else stack.push(tag)
    if (tags.length > MOST_TAGS) return undefined
  }
  return tags
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
    return { name: name!.toLowerCase(), valueStart: valueEnd - value.length, valueEnd }
  })
}
