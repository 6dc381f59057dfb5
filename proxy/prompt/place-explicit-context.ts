import { toBlockId } from '#index/context-block.ts'
import { ProxyError } from '../errors.ts'
import type { Chat } from './chat.ts'
import { contextPlaceholder } from './explicit-context.ts'
import type { ContextSlot, PromptContext } from './prompt-context.ts'

/** Explicit blocks in their place, in rank order. */
export interface PlacedContext {
  readonly context: PromptContext
  /** the text that holds them, with the placeholder replaced */
  readonly text: string
}

/**
 * Puts the blocks of the `reprise` field where the last `{{context}}` message has its first placeholder, each as
 * `[Doc_k] text` and parted by blank lines. Undefined when there are none; throws `invalid_body` when there is no
 * place for them, because forwarding the request would lose them.
 */
export function placeExplicitContext(chat: Chat): PlacedContext | undefined {
  const blocks = chat.explicit?.blocks
  if (!blocks) return undefined
  const place = chat.texts.findLastIndex(
    ({ text, message }) => chat.messages[message]!.role !== 'assistant' && text.includes(contextPlaceholder),
  )
  const holder = chat.texts[place]
  if (!holder) {
    const message = `'reprise.blocks' has no place: put ${contextPlaceholder} into the message that should hold them.`
    throw new ProxyError('invalid_body', message)
  }
  const start = holder.text.indexOf(contextPlaceholder)
  const rest = holder.text.slice(start + contextPlaceholder.length)
  let text = holder.text.slice(0, start)
  const slots: ContextSlot[] = []
  blocks.forEach((block, k) => {
    if (k > 0) text += '\n\n'
    const from = text.length
    text += `[Doc_${k + 1}] ${block}`
    const label = { start: from + '[Doc_'.length, end: from + `[Doc_${k + 1}`.length }
    slots.push({ text: place, start: from, end: text.length, label })
  })
  // the annotation stands behind the tag that closes around the blocks
  const closing = /^\s*<\/[\w-]+\s*>/.exec(rest)?.[0].length ?? 0
  return {
    context: {
      message: holder.message,
      slots,
      blocks: blocks.map(toBlockId),
      positional: true,
      labelPrefix: 'Doc_',
      annotateAt: { text: place, offset: text.length + closing },
    },
    text: text + rest,
  }
}
