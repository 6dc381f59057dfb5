import type { ContextSlot, PromptContext } from '../body/prompt-context.ts'
import { narrow } from '../scan/narrow.ts'

// a template's remarks about a block are within this distance of its edges
const WIDEST_EDGE = 100

/**
 * Returns whether each block repeats its own number, as `<id>2</id>` below `index="2"`. Also true for letters from A on,
 * because citations by letter could not be mapped back. `holdsCitations` says whether one block names another.
 */
export function namesItself(context: PromptContext, texts: readonly string[]): boolean {
  return context.positional ? areNumberedTwice(context, texts) : areLettered(context, texts)
}

function areLettered({ slots }: PromptContext, texts: readonly string[]): boolean {
  return slots.every(({ text, label }, i) => {
    return label !== undefined && texts[text]!.slice(label.start, label.end) === String.fromCharCode(65 + i)
  })
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
