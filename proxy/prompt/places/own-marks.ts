import { LRUCache } from 'lru-cache'
import type { BlockId } from '#index/context-block.ts'
import type { ContextSlot, PromptContext } from '../body/prompt-context.ts'
import { narrow } from '../scan/find-edges.ts'
import { nouns } from '../scan/words/nouns.ts'
import { toSingular } from './read-remarks.ts'

// the words that announce a list are in the line before it
const LONGEST_LINE = 300
// members of a JSON object are named within so many characters
const LONGEST_NAMES = 400
const MEMBER = /"(\p{L}{3,30})"\s?:/gu
// `index=` and `Title:` name what a block has, not what it is
const FIELD = /\p{L}{3,30}["']?\s?[=:]/gu
// the line before a list may also say `answer` or `question`, or how many were `retrieved`
const known = new Set(
  nouns.flatMap(({ language, singular, plural }) =>
    [singular, plural].flatMap((noun) => (language === 'en' ? wordsOf(noun).slice(-1) : wordsOf(noun))),
  ),
)

/**
 * Returns the words by which a prompt itself calls the blocks of a context, in the singular: those in the marks of its
 * first two blocks (`memory` in `<memory id="1">`), and nouns for retrieved texts in the line before it (`Memories:`) or
 * among the members of a JSON object (`{"memory": …}`).
 */
export function ownWords({ slots }: PromptContext, texts: readonly string[]): string[] {
  const [first, second] = slots
    .slice(0, 2)
    .map(({ text, start, content }) => wordsOf(texts[text]!.slice(start, content.start).replaceAll(FIELD, ' ')))
  // a word in only one of them is a title's
  const marks = first!.filter((word) => second!.includes(word))
  const { text, start, content } = slots[0]!
  const line = /[^\n]*\n?\s*$/.exec(texts[text]!.slice(Math.max(start - LONGEST_LINE, 0), start))![0]
  const block = texts[text]!.slice(content.start, content.start + LONGEST_NAMES)
  const members = block.startsWith('{') ? [...block.matchAll(MEMBER)].map(([, name]) => toSingular(name!)) : []
  return [...marks, ...[...wordsOf(line), ...members].filter((word) => known.has(word))]
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/\p{L}{3,30}/gu)].map(([word]) => toSingular(word))
}

// a number with the signs or the word around it
const NUMBER = /([[({【]|\p{L}{1,20}[ \t]|>|["']|":[ \t]?)(\d{1,6})(?![\p{L}\p{N}_]|[.,]\d)([\])}】<"',]?)/gu
// a template's remarks about a block are within this distance of its edges
const WIDEST_EDGE = 100

/**
 * Returns whether blocks carry their place in their text: each repeats its own number, as `<id>2</id>` below `index="2"`.
 * Also true for letters from A on, because citations by letter could not be mapped back.
 */
export function namesItself({ slots, positional }: PromptContext, texts: readonly string[]): boolean {
  if (positional) return areNumberedTwice(slots, texts)
  return slots.every(({ text, label }, i) => {
    return label !== undefined && texts[text]!.slice(label.start, label.end) === String.fromCharCode(65 + i)
  })
}

const BESIDE =
  'previous|preceding|prior|next|above|below|vor(?:her)?ige[rmns]?|vorangehende[rmns]?|nächste[rmns]?|oben|unten|précédente?|suivante?|anterior|siguiente|seguinte|precedente|seguente|предыдущ\\p{L}{2,3}|следующ\\p{L}{2,3}'

const CONTINUED = '^[^\\p{L}]{0,4}continued(?!\\p{L})'
const POINTING = new RegExp(`${CONTINUED}|(?<!\\p{L})(?:${BESIDE})(?!\\p{L})`, 'iu')
/** Whether a block's edges hold a word for what is beside it: documents come again. */
const pointing = new LRUCache<BlockId, boolean>({ max: 16_384 })
const BLOCK = ['document', 'passage', 'chunk', 'excerpt', 'snippet']

/** Returns whether the edge of a block speaks of its neighbour, as `see the document above` does, or continues it. */
export function pointsBeside(context: PromptContext, texts: readonly string[]): boolean {
  const { slots, contents } = context
  const edges = slots.flatMap((slot, i): string[] => {
    const known = pointing.get(contents[i]!)
    if (known === false) return []
    const own = edgesOf(texts[slot.text]!, slot)
    const isPointing = known ?? POINTING.test(own)
    pointing.set(contents[i]!, isPointing)
    return isPointing ? [own] : []
  })
  if (edges.length === 0) return false
  const own = [...new Set([...ownWords(context, texts), ...BLOCK])].join('|')
  const pointer = new RegExp(
    `${CONTINUED}|(?<!\\p{L})(?:(?:${BESIDE}) (?:${own})|(?:${own}) (?:${BESIDE}))(?!\\p{L}|:| [|›»→])`,
    'iu',
  )
  return edges.some((edge) => pointer.test(edge))
}

function edgesOf(text: string, { content: { start, end } }: ContextSlot): string {
  const head = text.slice(start, Math.min(start + WIDEST_EDGE, end))
  return `${head}\0${text.slice(Math.max(end - WIDEST_EDGE, start), end)}`
}

/** Returns whether every block repeats its own number apart from the label, each time within the same signs. */
function areNumberedTwice([first, ...others]: readonly ContextSlot[], texts: readonly string[]): boolean {
  if (!first || others.length === 0) return false
  let shared = readSigns(texts[first.text]!, first)
  for (const slot of others) {
    if (shared.size === 0) return false
    const own = readSigns(texts[slot.text]!, slot)
    shared = new Set([...shared].filter((signs) => own.has(signs)))
  }
  return shared.size > 0
}

/** Returns the signs around this slot's label number where its block repeats the number. */
function readSigns(text: string, { start, end, content, label }: ContextSlot): Set<string> {
  const number = text.slice(label!.start, label!.end)
  const head = Math.max(Math.min(content.start + WIDEST_EDGE, end), label!.end)
  const edges = [
    text.slice(start, label!.start),
    text.slice(label!.end, head),
    text.slice(Math.max(content.end - WIDEST_EDGE, head), end),
  ].join('\0')
  if (!edges.includes(number)) return new Set()
  const repeated = [...narrow(edges).matchAll(NUMBER)].filter(([, , found]) => found === number)
  return new Set(repeated.map(([, before, , behind]) => `${before!.trim().toLowerCase()}\0${behind}`))
}
