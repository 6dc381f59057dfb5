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
 * `invalid_body` if there is none, or one in several prompts, because forwarding the request would lose the blocks.
 */
export function placeExplicitContext({ prompts, texts }: PromptSet, blocks: readonly string[]): PlacedContext {
  const places = prompts.flatMap(({ messages }) => {
    const own = messages.flatMap(({ role, texts }) => (role === 'assistant' ? [] : texts))
    return own.findLast((place) => texts[place]!.text.includes(contextPlaceholder)) ?? []
  })
  const [at] = places
  if (at === undefined || places.length > 1) {
    const fault = at === undefined ? 'no place' : 'places in several prompts'
    const message = `'reprise.blocks' has ${fault}: put ${contextPlaceholder} into the message or prompt that should hold them.`
    throw new ProxyError('invalid_body', message)
  }
  return placeBlocks(texts[at]!.text, at, blocks)
}

const labelPrefix = 'Doc_'

/** Inserts blocks, written as `[Doc_1] text` and separated by blank lines, at the first `{{context}}` of a text. */
export function placeBlocks(holder: string, at: number, blocks: readonly string[]): PlacedContext {
  const start = holder.indexOf(contextPlaceholder)
  const rest = holder.slice(start + contextPlaceholder.length)
  const rendered = blocks.map((block, k) => `[${labelPrefix}${k + 1}] ${block}`)
  let next = start
  const slots = rendered.map((block, k): ContextSlot => {
    const [from, end] = [next, next + block.length]
    next = end + '\n\n'.length
    const label = { start: from + 1 + labelPrefix.length, end: end - blocks[k]!.length - '] '.length }
    return { text: at, start: from, end, content: { start: end - blocks[k]!.length, end }, label }
  })
  const text = holder.slice(0, start) + rendered.join('\n\n')
  // the annotation goes after the tag that closes around the blocks
  const closing = /^\s*<\/[\w-]+\s*>/.exec(rest)?.[0].length ?? 0
  const ids = blocks.map(toBlockId)
  const annotateAt = { text: at, offset: text.length + closing }
  const context = { slots, blocks: ids, contents: ids, positional: true, labelPrefix, annotateAt, isResult: false }
  return { at, text: text + rest, blocks, context }
}
