import type { SentPrompt } from '#index/cache-event.ts'
import type { CacheMirror } from '#index/cache-mirror.ts'
import { type BlockId, type ScopeId, toBlockId } from '#index/context-block.ts'
import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { deduplicateContext, type FreshBlock, repeatPointers } from '#index/deduplicate-context.ts'
import { ShownBlocks } from '#index/shown-blocks.ts'
import type { LaidOutMessage, Layout, PromptLayout } from './prompt/lay-out-prompt.ts'
import type { PromptContext } from './prompt/prompt-context.ts'
import { isJson, labelsAsSent, renderAnnotation, renderBlock, setApart } from './prompt/render-context.ts'
import { SentPromptWriter } from './prompt/sent-prompt-writer.ts'
import type { RequestOptions } from './request-options.ts'
import type { Wording } from './wording.ts'

/** One context of a prompt as it is to be sent. */
export interface ReusedContext extends SentOrder {
  readonly found: PromptContext
  /** everything that stands in front of it, as sent */
  readonly scope: ScopeId
  /** where the search ended; empty when its turn was sent before, or nothing is shared */
  readonly searchPath: readonly number[]
}

/** A prompt as it is to be sent. */
export interface ReusedPrompt {
  readonly contexts: readonly ReusedContext[]
  readonly sent: SentPrompt
}

/** All prompts of a body as they are to be sent, and what must be remembered when they are. */
export interface ReusedBody {
  /** by place in `PromptSet.texts` */
  readonly texts: readonly string[]
  readonly prompts: readonly ReusedPrompt[]
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
}

/** What prompts are reused against. */
export interface ReuseState {
  readonly mirror: Pick<CacheMirror, 'order'>
  readonly tenant: string
  readonly options: RequestOptions
  readonly wording: Wording
}

/**
 * Context reuse for the prompts of a body (ContextPilot §5, §6): every context is aligned with what the engine holds
 * behind the very same text, and what stands earlier in the prompt is pointed to; unless its turn was sent before:
 * then it is sent again as it was. Changes nothing but what it returns.
 */
export function reusePrompts(layout: Layout, state: ReuseState): ReusedBody {
  const texts = [...layout.texts]
  const turns = new Map<TurnKey, SentTurn>()
  const prompts = layout.prompts.map((prompt) => new PromptReuse(layout, texts, turns, state).write(prompt))
  return { texts, prompts, turns }
}

/** A stretch of a text that is written anew: a slot, or the empty stretch where a context's annotation goes. */
interface Stretch {
  readonly start: number
  readonly end: number
  readonly context: number
  /** place among the context's slots; undefined for the annotation */
  readonly slot: number | undefined
}

class PromptReuse {
  readonly #layout: Layout
  /** as they are to be sent; filled in text by text */
  readonly #texts: string[]
  readonly #turns: Map<TurnKey, SentTurn>
  readonly #state: ReuseState
  readonly #writer = new SentPromptWriter()
  readonly #shown = new ShownBlocks()

  constructor(layout: Layout, texts: string[], turns: Map<TurnKey, SentTurn>, state: ReuseState) {
    this.#layout = layout
    this.#texts = texts
    this.#turns = turns
    this.#state = state
  }

  write({ preamble, messages }: PromptLayout): ReusedPrompt {
    this.#writer.write(JSON.stringify([this.#state.tenant, preamble]))
    const contexts = messages.flatMap((laidOut) => {
      this.#writer.write(laidOut.identity)
      const reused = this.#writeMessage(laidOut)
      this.#writer.mark()
      this.#remember(laidOut, reused)
      return reused
    })
    return { contexts, sent: this.#writer.prompt }
  }

  #writeMessage(laidOut: LaidOutMessage): ReusedContext[] {
    const { contexts, message } = laidOut
    const reused: ReusedContext[] = []
    const written = contexts.map(() => ({ blocks: [] as BlockId[], sizes: [] as number[], ends: [] as number[] }))
    const stretches = stretchesByText(contexts)
    for (const place of message.texts) {
      const original = this.#layout.texts[place]!
      const pieces: string[] = []
      let at = 0
      const write = (piece: string): void => {
        pieces.push(piece)
        this.#writer.write(piece)
      }
      for (const stretch of stretches.get(place) ?? []) {
        write(original.slice(at, stretch.start))
        at = stretch.end
        const context = contexts[stretch.context]!
        // the first slot of a context: all that stands in front of it has been written
        reused[stretch.context] ??= this.#reuseContext(context, laidOut, stretch.context)
        const { annotation } = reused[stretch.context]!
        if (stretch.slot !== undefined) {
          const block = this.#renderSlot(reused[stretch.context]!, stretch.slot)
          pieces.push(block.text)
          this.#writer.writeBlock(block.identity, block.text.length)
          this.#writer.mark()
          const { blocks, sizes, ends } = written[stretch.context]!
          blocks.push(block.id)
          sizes.push(block.text.length)
          ends.push(this.#writer.length)
        } else if (annotation !== undefined) write(setApart(original, stretch.start, annotation))
      }
      write(original.slice(at))
      this.#texts[place] = pieces.join('')
    }
    reused.forEach(({ scope, found }, i) => {
      if (!found.isResult) this.#writer.addContext({ scope, ...written[i]! })
    })
    return reused
  }

  /** A block as it is sent, what the index knows it by, and what tells it from all others together with its label. */
  #renderSlot(
    { found, order, pointers }: ReusedContext,
    place: number,
  ): { text: string; id: BlockId; identity: string } {
    const from = order[place]!
    const own = pointers.filter((pointer) => pointer.place === place)
    const slot = found.slots[place]!
    const text = renderBlock(this.#layout.texts, slot, found.slots[from]!, found.positional, own)
    const id = own.length > 0 ? toBlockId(text) : found.blocks[from]!
    const { start = 0, end = 0 } = (found.positional && slot.label) || {}
    return { text, id, identity: id + this.#layout.texts[slot.text]!.slice(start, end) }
  }

  #reuseContext(found: PromptContext, laidOut: LaidOutMessage, place: number): ReusedContext {
    const { options, wording } = this.#state
    const scope = this.#writer.mark()
    const past = laidOut.past[place]
    if (past && isPermutation(past.order, found.slots.length)) {
      const pointers = repeatPointers(this.#freshBlocks(found, past.order), past.pointers, this.#shown)
      return { ...past, pointers, found, scope, searchPath: [] }
    }
    const mayPoint = options.dedup !== false && laidOut.message.role !== 'documents'
    const { order, searchPath } = this.#order(found, scope, mayPoint)
    const fresh = this.#freshBlocks(found, order)
    const pointers = mayPoint
      ? deduplicateContext(fresh, this.#shown, wording.location)
      : repeatPointers(fresh, [], this.#shown)
    const labels = fresh.map(({ label }) => label)
    const annotation = options.annotate === false ? undefined : renderAnnotation(found, order, labels, wording.order)
    return { order, annotation, pointers, found, scope, searchPath }
  }

  /** Blocks that will only be pointed to have no part in the order: with nothing to gain they stay, else they come last. */
  #order(found: PromptContext, scope: ScopeId, mayPoint: boolean): { order: number[]; searchPath: readonly number[] } {
    const places = [...found.slots.keys()]
    const asReceived = { order: places, searchPath: [] }
    if (this.#state.options.reorder === false || found.isResult) return asReceived
    const repeated = mayPoint ? this.#repeatedPlaces(found) : new Set<number>()
    const fresh = places.filter((place) => !repeated.has(place))
    const sizes = fresh.map((place) => found.slots[place]!.end - found.slots[place]!.start)
    const ordering = this.#state.mirror.order(
      scope,
      fresh.map((place) => found.blocks[place]!),
      sizes,
    )
    if (!ordering) return asReceived
    const { order, searchPath } = ordering
    if (order.every((from, place) => from === place)) return { order: places, searchPath }
    return { order: [...order.map((from) => fresh[from]!), ...repeated], searchPath }
  }

  /** Blocks that stand earlier, but for those that no words are short enough to point to. */
  #repeatedPlaces(found: PromptContext): Set<number> {
    const shortest = this.#state.wording.location.length
    const seen = new Set<BlockId>()
    const repeated = new Set<number>()
    for (const [place, content] of found.contents.entries()) {
      const { start, end } = found.slots[place]!.content
      if (end - start > shortest && (seen.has(content) || this.#shown.find(content))) repeated.add(place)
      seen.add(content)
    }
    return repeated
  }

  #freshBlocks(found: PromptContext, order: readonly number[]): FreshBlock[] {
    const { texts } = this.#layout
    const labels = labelsAsSent(texts, found, order)
    return order.map((from, place) => {
      const slot = found.slots[from]!
      const content = texts[slot.text]!.slice(slot.content.start, slot.content.end)
      return { id: found.contents[from]!, content, label: labels[place]!, isWhole: isJson(texts[slot.text]!, slot) }
    })
  }

  #remember({ keys, explicit }: LaidOutMessage, reused: readonly ReusedContext[]): void {
    if (reused.length === 0) return
    const contexts = reused.map(({ order, annotation, pointers }) => ({ order, annotation, pointers }))
    const turn: SentTurn = explicit
      ? { kind: 'explicit', blocks: explicit, context: contexts[0]! }
      : { kind: 'ordered', contexts }
    for (const key of keys) this.#turns.set(key, turn)
  }
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
    if (!annotateAt) return
    add(annotateAt.text, { start: annotateAt.offset, end: annotateAt.offset, context, slot: undefined })
  })
  for (const stretches of byText.values()) stretches.sort((a, b) => a.start - b.start)
  return byText
}

function isPermutation(order: readonly number[], length: number): boolean {
  return (
    order.length === length && new Set(order).size === length && order.every((place) => place >= 0 && place < length)
  )
}
