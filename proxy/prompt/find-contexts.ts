import { toBlockId } from '#index/context-block.ts'
import type { ChatMessage } from './chat.ts'
import type { BlockSpan } from './context-list.ts'
import { findContextLists } from './find-context-lists.ts'
import { findIndexFrom } from './find-edges.ts'
import type { ContextSlot, PromptContext } from './prompt-context.ts'

/** Roles whose texts may hold context blocks; what an assistant wrote is never touched. */
const rolesWithContext = new Set(['system', 'developer', 'user', 'tool'])

/** How text parts are set apart when a message is searched as one text. */
const partSeparator = '\n\n'

/**
 * Finds the contexts of one message (CONTRACT §3): lists with markers, also across its text parts; without any, the
 * text parts of a user message that come before the last one, which is the question.
 */
export function findContexts(place: number, message: ChatMessage, texts: readonly string[]): PromptContext[] {
  if (!rolesWithContext.has(message.role) || message.texts.length === 0) return []
  const marked = findMarkedContexts(place, message, texts)
  if (marked.length > 0) return marked
  const parts = message.texts.slice(0, -1)
  if (message.role !== 'user' || !message.isTextOnly || parts.length < 2) return []
  const last = parts.at(-1)!
  return [
    {
      message: place,
      slots: parts.map((text) => ({ text, start: 0, end: texts[text]!.length })),
      blocks: parts.map((text) => toBlockId(texts[text]!)),
      positional: false,
      labelPrefix: '',
      annotateAt: { text: last, offset: texts[last]!.length },
    },
  ]
}

function findMarkedContexts(place: number, message: ChatMessage, texts: readonly string[]): PromptContext[] {
  const whole = message.texts.map((text) => texts[text]!).join(partSeparator)
  const parts: { text: number; start: number }[] = []
  let at = 0
  for (const text of message.texts) {
    parts.push({ text, start: at })
    at += texts[text]!.length + partSeparator.length
  }
  const locate = (offset: number): { text: number; start: number } => parts[findIndexFrom(parts, offset + 1) - 1]!
  const contexts: PromptContext[] = []
  for (const list of findContextLists(whole)) {
    const slots = list.blocks.map((block) => toSlot(block, locate(block.start)))
    // a block that runs from one part into the next cannot be moved
    if (slots.some((slot) => slot.end > texts[slot.text]!.length)) continue
    const end = locate(list.end)
    contexts.push({
      message: place,
      slots,
      blocks: list.blocks.map((block) => toBlockId(withoutPosition(whole, block, list.positional))),
      positional: list.positional,
      labelPrefix: list.labelPrefix,
      annotateAt: { text: end.text, offset: Math.min(list.end - end.start, texts[end.text]!.length) },
    })
  }
  return contexts
}

/** All of a block but a label that belongs to its place: blocks are the same when the engine would see the same bytes. */
function withoutPosition(text: string, { start, end, label }: BlockSpan, positional: boolean): string {
  if (!positional || !label) return text.slice(start, end)
  return text.slice(start, label.start) + text.slice(label.end, end)
}

function toSlot(block: BlockSpan, part: { text: number; start: number }): ContextSlot {
  const slot = { text: part.text, start: block.start - part.start, end: block.end - part.start }
  if (!block.label) return slot
  return { ...slot, label: { start: block.label.start - part.start, end: block.label.end - part.start } }
}
