import { digestOf, type ScopeId } from '#index/context-block.ts'
import type { PromptMessage, PromptSet } from './body/prompt.ts'
import { type PromptContext, slotsByText } from './body/prompt-context.ts'
import { matchAt } from './scan/find-edges.ts'

/**
 * Returns the identity of a message as received. Block contents, which are most of it, are included by their
 * identities.
 */
export function digestMessage(
  identity: string,
  message: PromptMessage,
  { texts }: PromptSet,
  contexts: readonly PromptContext[],
): string {
  const pieces: string[] = [`${identity}${message.texts.length}`]
  const slots = slotsByText(contexts)
  for (const place of message.texts) {
    const { text } = texts[place]!
    let at = 0
    for (const { slot, content } of slots.get(place) ?? []) {
      pieces.push(text.slice(at, slot.content.start), content)
      at = slot.content.end
    }
    // text outside blocks may be long, and hashing it separately avoids a copy
    pieces.push(digestOf(text.slice(at)))
  }
  return digestOf(JSON.stringify(pieces))
}

// what is asked about a list, up to the end of the line or to a possible mark of the next turn
const ASKED = /\s*([^\r\n<[]{0,1000})/y

/**
 * Names each context of a text by everything before its end, as received, and by the first line after it, which has the
 * question. The context is thus recognised when the text grows. `base` is part of the names.
 */
function digestContexts(base: ScopeId, text: string, contexts: readonly PromptContext[]): ScopeId[] {
  let front = base
  let at = 0
  return contexts.map(({ slots, contents, annotateAt }) => {
    const pieces = slots.flatMap(({ content }, i) => {
      const piece = text.slice(at, content.start)
      at = content.end
      return [piece, contents[i]!]
    })
    front = digestOf(JSON.stringify([front, ...pieces]))
    return digestOf(JSON.stringify([front, matchAt(ASKED, text, annotateAt?.offset ?? at)?.[1]]))
  })
}

/** Names the contexts of a rendered prompt. Those found without known chunks and templates are named as if no chunks were known. */
export function nameContexts(
  base: ScopeId,
  text: string,
  contexts: readonly PromptContext[],
  unaided: readonly PromptContext[],
): ScopeId[] {
  const names = digestContexts(base, text, unaided)
  const byStart = new Map(unaided.map(({ slots }, i) => [slots[0]!.start, names[i]!]))
  return contexts.map((context) => {
    const start = context.slots[0]!.start
    const own = byStart.get(start)
    if (own !== undefined && !context.certain) return own
    return digestContexts(base, text, [context])[0]!
  })
}
