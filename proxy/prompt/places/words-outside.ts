import type { PromptMessage } from '../body/prompt.ts'
import { type PromptContext, slotsByText } from '../body/prompt-context.ts'
import { outsideBlocks } from '../borders/list-closings.ts'

/** A message, and the lists found in it. */
interface Found {
  readonly message: Pick<PromptMessage, 'texts'>
  readonly contexts: readonly PromptContext[]
}

/** What is read of a question: its end, where the newest words are. */
const longestQuestion = 2_000

/** Returns what a message asks about lists, its own or those of others. */
export function questionOf(found: Found, texts: readonly string[]): string {
  return wordsOutside(found, texts).slice(-longestQuestion)
}

/** Returns whether a message is from the system. What it says about blocks applies to the lists of all messages. */
export function isOfSystem({ message: { role } }: { readonly message: Pick<PromptMessage, 'role'> }): boolean {
  return role === 'system' || role === 'developer'
}

/**
 * Returns the text of a message outside its blocks. What a template has between two blocks is markup, and says nothing of
 * them.
 */
export function wordsOutside({ message, contexts }: Found, texts: readonly string[]): string {
  const slots = slotsByText(contexts)
  const joined = new Set(contexts.flatMap((context) => (isOfTemplate(context) ? context.slots.slice(1) : [])))
  const pieces = message.texts.flatMap((place) => {
    const own = (slots.get(place) ?? []).map(({ slot }) => slot)
    return outsideBlocks(texts[place]!, own).map((piece, i) => (joined.has(own[i]!) ? '' : piece))
  })
  return pieces.join('\n\n')
}

function isOfTemplate({ certain }: PromptContext): boolean {
  return certain?.by === 'learnt' || certain?.by === 'template'
}
