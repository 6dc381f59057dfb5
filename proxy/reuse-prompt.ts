import type { SentPrompt } from '#index/cache-event.ts'
import type { CacheMirror } from '#index/cache-mirror.ts'
import type { BlockId, ScopeId } from '#index/context-block.ts'
import type { ConversationStore, SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { Chat } from './prompt/chat.ts'
import { type LaidOutMessage, layOutPrompt, type PromptLayout } from './prompt/lay-out-prompt.ts'
import type { PlacedContext } from './prompt/place-explicit-context.ts'
import type { PromptContext } from './prompt/prompt-context.ts'
import { renderAnnotation, renderBlock, setApart } from './prompt/render-context.ts'
import { SentPromptWriter } from './prompt/sent-prompt-writer.ts'
import type { RequestOptions } from './request-options.ts'

/** One context of a prompt as it is to be sent. */
export interface ReusedContext extends SentOrder {
  /** the blocks in the order received */
  readonly blocks: readonly BlockId[]
  /** everything that stands in front of it, as sent */
  readonly scope: ScopeId
  /** where the search ended; empty when its turn was sent before, or nothing is shared */
  readonly searchPath: readonly number[]
}

/** A prompt as it is to be sent, and what must be remembered when it is. */
export interface ReusedPrompt {
  /** by place in `Chat.texts` */
  readonly texts: readonly string[]
  readonly contexts: readonly ReusedContext[]
  readonly sent: SentPrompt
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  readonly hasUnknownTurn: boolean
}

/** What a prompt is reused against. */
export interface ReuseState {
  readonly mirror: Pick<CacheMirror, 'order'>
  readonly store: ConversationStore
  readonly tenant: string
  readonly conversation: string | undefined
  readonly options: RequestOptions
}

/**
 * Context reuse for one prompt (ContextPilot §5): every context is aligned with what the engine holds behind the very
 * same text, unless its turn was sent before: then it is sent again as it was. Changes nothing but what it returns.
 */
export function reusePrompt(chat: Chat, placed: PlacedContext | undefined, state: ReuseState): ReusedPrompt {
  const layout = layOutPrompt(chat, placed, state)
  const writer = new SentPromptWriter()
  writer.write(JSON.stringify([state.tenant, chat.preamble]))
  const texts = [...layout.texts]
  const contexts: ReusedContext[] = []
  const turns = new Map<TurnKey, SentTurn>()
  for (const message of layout.messages) {
    writer.write(message.identity)
    const reused = writeMessage(message, layout, texts, writer, state)
    writer.mark()
    contexts.push(...reused)
    if (reused.length > 0) {
      turns.set(message.turn, {
        kind: 'ordered',
        contexts: reused.map(({ order, annotation }) => ({ order, annotation })),
      })
    }
    if (message.repeatedTurn && placed) {
      const { blocks, annotateAt } = placed.context
      turns.set(message.repeatedTurn, { kind: 'explicit', text: texts[annotateAt.text]!, blocks })
    }
  }
  return { texts, contexts, sent: writer.prompt, turns, hasUnknownTurn: layout.hasUnknownTurn }
}

/** A stretch of a text that is written anew: a slot, or the empty stretch where a context's annotation goes. */
interface Stretch {
  readonly start: number
  readonly end: number
  readonly context: number
  /** place among the context's slots; undefined for the annotation */
  readonly slot: number | undefined
}

function writeMessage(
  laidOut: LaidOutMessage,
  layout: PromptLayout,
  texts: string[],
  writer: SentPromptWriter,
  state: ReuseState,
): ReusedContext[] {
  const { contexts } = laidOut
  const known = state.store.recall(laidOut.turn)
  const past = known?.kind === 'ordered' ? known.contexts : []
  const reused: ReusedContext[] = []
  const ends: number[][] = contexts.map(() => [])
  const stretches = stretchesByText(contexts)
  for (const place of laidOut.message.texts) {
    const original = layout.texts[place]!
    const pieces: string[] = []
    let at = 0
    const write = (piece: string): void => {
      pieces.push(piece)
      writer.write(piece)
    }
    for (const stretch of stretches.get(place) ?? []) {
      write(original.slice(at, stretch.start))
      at = stretch.end
      const context = contexts[stretch.context]!
      // the first slot of a context: all that stands in front of it has been written
      reused[stretch.context] ??= reuseContext(layout.texts, context, writer.mark(), past[stretch.context], state)
      const { order, annotation } = reused[stretch.context]!
      if (stretch.slot !== undefined) {
        const from = context.slots[order[stretch.slot]!]!
        write(renderBlock(layout.texts, context.slots[stretch.slot]!, from, context.positional))
        writer.mark()
        ends[stretch.context]!.push(writer.length)
      } else if (annotation !== undefined) write(setApart(original, stretch.start, annotation))
    }
    write(original.slice(at))
    texts[place] = pieces.join('')
  }
  reused.forEach(({ scope, blocks, order }, i) => {
    const sizes = order.map((from) => contexts[i]!.slots[from]!).map(({ start, end }) => end - start)
    writer.addContext({ scope, blocks: order.map((from) => blocks[from]!), sizes, ends: ends[i]! })
  })
  return reused
}

/** What is written anew in each text, in order. */
function stretchesByText(contexts: readonly PromptContext[]): Map<number, Stretch[]> {
  const byText = new Map<number, Stretch[]>()
  const add = (text: number, stretch: Stretch): void => {
    const known = byText.get(text)
    if (known) known.push(stretch)
    else byText.set(text, [stretch])
  }
  contexts.forEach(({ slots, annotateAt }, context) => {
    slots.forEach(({ text, start, end }, slot) => {
      add(text, { start, end, context, slot })
    })
    add(annotateAt.text, { start: annotateAt.offset, end: annotateAt.offset, context, slot: undefined })
  })
  for (const stretches of byText.values()) stretches.sort((a, b) => a.start - b.start)
  return byText
}

function reuseContext(
  texts: readonly string[],
  context: PromptContext,
  scope: ScopeId,
  past: SentOrder | undefined,
  { mirror, options }: ReuseState,
): ReusedContext {
  const { blocks } = context
  if (past && isPermutation(past.order, blocks.length)) return { ...past, blocks, scope, searchPath: [] }
  const sizes = context.slots.map(({ start, end }) => end - start)
  const ordering = options.reorder === false ? undefined : mirror.order(scope, blocks, sizes)
  const { order, searchPath } = ordering ?? { order: [...blocks.keys()], searchPath: [] }
  const annotation = options.annotate === false ? undefined : renderAnnotation(texts, context, order)
  return { order, annotation, blocks, scope, searchPath }
}

function isPermutation(order: readonly number[], length: number): boolean {
  return (
    order.length === length && new Set(order).size === length && order.every((place) => place >= 0 && place < length)
  )
}
