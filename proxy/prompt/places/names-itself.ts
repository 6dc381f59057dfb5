import { type ContextSlot, type PromptContext, placeLabels } from '../body/prompt-context.ts'
import { narrow } from '../scan/narrow.ts'

const BRACKETED = /\[(\d{1,4})\]/g
// a footnote mark follows what it supports; after these words the number is part of the sentence
const SPOKEN_BEFORE =
  /(?:^|[^\p{L}])(?:see|in|of|from|per|with|to|by|and|like|than|unlike|both|against|cf\.?|contradicts|supersedes|siehe|vgl\.?) $/iu
const SPOKEN_BEHIND =
  /^ (?:is|are|was|were|says?|states?|shows?|reports?|claims?|describes?|contradicts?|above|below)\b/i

// endings of `document`, `Doc_`, `source` and `passage`, each from a rare letter on, so that the search can skip ahead
const SIGNS = ['ument', 'UMENT', '_', 'urce', 'passage', 'Passage']
const NUMBER_BEHIND = /s?[ \t]?#?[ \t]?[[(]?(\d{1,4})(?![\d%]|[.,]\d)/y
// a longer text was not written for its prompt, and its numbers are its own
const LONGEST_NOTE = 4_000

// a template's remarks about a block are within this distance of its edges
const WIDEST_EDGE = 100

/**
 * Returns whether block text names blocks by position. Either one block names another, as in `see document [2]`, or
 * each repeats its own number, as `<id>2</id>` below `index="2"`. Also true for letters from A on, because citations by
 * letter could not be mapped back.
 */
export function namesItself(context: PromptContext, texts: readonly string[]): boolean {
  if (!context.positional) return areLettered(context, texts)
  const labels = new Set(placeLabels(context, texts))
  const blocks = shortContents(context, texts)
  if (blocks.some((words) => wordedNumbers(words).some((number) => labels.has(number)))) return true
  if (context.labelPrefix === '' && blocks.some((words) => isBracketed(words, labels))) return true
  return areNumberedTwice(context, texts)
}

/** Returns the contents of blocks short enough to have been written for their prompt. */
function shortContents({ slots }: PromptContext, texts: readonly string[]): string[] {
  return slots
    .filter(({ content: { start, end } }) => end - start <= LONGEST_NOTE)
    .map(({ text, content: { start, end } }) => texts[text]!.slice(start, end))
}

/** Returns the numbers in a text that follow words for a document, as in `document [2]`. */
function wordedNumbers(text: string): string[] {
  return SIGNS.flatMap((sign) => {
    const found: string[] = []
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + sign.length)) {
      if (sign === '_' && !text.startsWith('oc', at - 2)) continue
      NUMBER_BEHIND.lastIndex = at + sign.length
      const number = NUMBER_BEHIND.exec(text)?.[1]
      if (number !== undefined) found.push(number)
    }
    return found
  })
}

function areLettered({ slots }: PromptContext, texts: readonly string[]): boolean {
  return slots.every(({ text, label }, i) => {
    return label !== undefined && texts[text]!.slice(label.start, label.end) === String.fromCharCode(65 + i)
  })
}

function isBracketed(text: string, labels: ReadonlySet<string>): boolean {
  if (!text.includes('[')) return false
  let isSpoken = false
  for (const { 0: whole, 1: number, index } of text.matchAll(BRACKETED)) {
    // a text that also cites numbers outside the list cites its own references
    if (!labels.has(number!)) return false
    const end = index + whole.length
    isSpoken ||=
      SPOKEN_BEFORE.test(text.slice(Math.max(index - 16, 0), index)) || SPOKEN_BEHIND.test(text.slice(end, end + 16))
  }
  return isSpoken
}

/** Returns whether every block repeats its own number apart from the label, each time within the same signs. */
function areNumberedTwice({ slots, labelPrefix }: PromptContext, texts: readonly string[]): boolean {
  if (slots.length < 2) return false
  const word = /(\p{L}+)[ _.:#-]*$/u.exec(labelPrefix)?.[1]?.toLowerCase()
  let shared: Set<string> | undefined
  for (const slot of slots) {
    const around = readSigns(texts[slot.text]!, slot, word)
    shared = shared === undefined ? around : new Set([...shared].filter((signs) => around.has(signs)))
    if (shared.size === 0) return false
  }
  return true
}

const NUMBER = /([[({【]|\p{L}{1,20}[ \t]|>|["']|":[ \t]?)(\d{1,6})(?![\p{L}\p{N}_]|[.,]\d)(.?)/gu

/** Returns the signs around this slot's label number where its block repeats the number. */
function readSigns(text: string, { start, end, content, label }: ContextSlot, word: string | undefined): Set<string> {
  const number = text.slice(label!.start, label!.end)
  const head = Math.max(Math.min(content.start + WIDEST_EDGE, end), label!.end)
  const edges = [
    text.slice(start, label!.start),
    text.slice(label!.end, head),
    text.slice(Math.max(content.end - WIDEST_EDGE, head), end),
  ].join('\0')
  const signs = new Set<string>()
  if (!edges.includes(number)) return signs
  for (const [, before, found, behind] of narrow(edges).matchAll(NUMBER)) {
    if (found !== number) continue
    if (before!.trim().toLowerCase() === word) signs.add(word!)
    else if (isEnclosed(before!, behind!)) signs.add(`${before}\0${behind}`)
  }
  return signs
}

/**
 * Returns whether a number is in brackets, a tag or quotes, or is a member's value. A number between words is part of
 * the text.
 */
function isEnclosed(before: string, behind: string): boolean {
  if (before.startsWith('":')) return behind === ',' || behind === '}'
  if (before === '>') return behind === '<'
  if (before === '"' || before === "'") return before === behind
  return behind !== '' && '])}】'.includes(behind)
}
