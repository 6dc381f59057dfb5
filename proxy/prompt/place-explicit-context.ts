import { toBlockId } from '#index/context-block.ts'
import { ProxyError } from '../common/errors.ts'
import { contextPlaceholder } from './body/explicit-context.ts'
import type { PromptSet } from './body/prompt.ts'
import type { ContextSlot, PromptContext } from './body/prompt-context.ts'

/** Explicit blocks inserted into a text, in rank order. */
export interface PlacedContext {
  /** index of the text that contains them */
  readonly at: number
  /** that text, with the placeholder replaced */
  readonly text: string
  readonly blocks: readonly string[]
  readonly context: PromptContext
}

/**
 * Inserts a body's explicit blocks into the last text outside assistant messages that contains `{{context}}`. Throws
 * `invalid_body` if there is none, because forwarding the request would lose the blocks.
 */
export function placeExplicitContext(
  { prompts, texts }: PromptSet,
  blocks: readonly string[],
  template: string,
): PlacedContext {
  const messages = prompts.flatMap((prompt) => prompt.messages)
  const places = messages.flatMap(({ role, texts }) => (role === 'assistant' ? [] : texts))
  const at = places.findLast((place) => texts[place]!.text.includes(contextPlaceholder))
  if (at === undefined) {
    const message = `'reprise.blocks' has no place: put ${contextPlaceholder} into the message that should hold them.`
    throw new ProxyError('invalid_body', message)
  }
  return placeBlocks(texts[at]!.text, at, blocks, template)
}

/** Inserts blocks, separated by blank lines, at the first `{{context}}` of a text. */
export function placeBlocks(holder: string, at: number, blocks: readonly string[], template: string): PlacedContext {
  const start = holder.indexOf(contextPlaceholder)
  const rest = holder.slice(start + contextPlaceholder.length)
  const slots: ContextSlot[] = []
  const rendered: string[] = []
  let from = start
  const pieces = template.split(/(\{k\}|\{text\})/)
  blocks.forEach((block, k) => {
    const { text, label, content } = renderExplicit(block, k + 1, pieces)
    slots.push({
      text: at,
      start: from,
      end: from + text.length,
      content: { start: from + content, end: from + content + block.length },
      label: { start: from + label, end: from + label + String(k + 1).length },
    })
    rendered.push(text)
    from += text.length + '\n\n'.length
  })
  const text = holder.slice(0, start) + rendered.join('\n\n')
  // the annotation goes after the tag that closes around the blocks
  const closing = /^\s*<\/[\w-]+\s*>/.exec(rest)?.[0].length ?? 0
  const ids = blocks.map(toBlockId)
  const context = {
    slots,
    blocks: ids,
    contents: ids,
    positional: true,
    labelPrefix: /([\p{L}_]*[ _]?)\{k\}/u.exec(template)![1]!,
    annotateAt: { text: at, offset: text.length + closing },
    isResult: false,
  }
  return { at, text: text + rest, blocks, context }
}

/** Renders one block with the pieces of a template. Returns it with the offsets of its label and its content. */
function renderExplicit(
  block: string,
  k: number,
  template: readonly string[],
): { text: string; label: number; content: number } {
  let text = ''
  let label = 0
  let content = 0
  for (const piece of template) {
    if (piece === '{k}') label = text.length
    if (piece === '{text}') content = text.length
    text += piece === '{k}' ? String(k) : piece === '{text}' ? block : piece
  }
  return { text, label, content }
}
