import { type BlockId, type ScopeId, toBlockId } from '#index/context-block.ts'
import type { SentTurn, TurnKey } from '#index/conversation-store.ts'
import {
  deduplicateContext,
  type FreshBlock,
  repeatPointers,
  type SentPointer,
} from '#index/dedup/deduplicate-context.ts'
import { ShownBlocks } from '#index/dedup/shown-blocks.ts'
import type { CacheMirror } from '#index/mirror/cache-mirror.ts'
import type { Span } from '../common/json/json-spans.ts'
import type { RequestOptions } from '../common/request-options.ts'
import type { WorkBudget } from '../http/bounds/work-limits.ts'
import { type ContextSlot, isLeftAlone, type PromptContext } from '../prompt/body/prompt-context.ts'
import { type Piece, piecesLength, piecesText, type TextSplice } from '../prompt/body/text-splice.ts'
import { translate } from '../prompt/history/translate-history.ts'
import type { LaidOutMessage, Layout, PromptLayout } from '../prompt/layout.ts'
import { isJson, labelsAsSent, renderAnnotation, renderBlock, setApart } from '../prompt/render-context.ts'
import { SentPromptWriter } from '../prompt/sent-prompt-writer.ts'
import type { Wording } from '../prompt/wording.ts'
import { BodyOrders, isPermutation } from './body-orders.ts'
import { holdsPositions } from './holds-positions.ts'
import { noteTurn } from './note-turns.ts'
import type { ReusedBody, ReusedContext, ReusedPrompt } from './reused-prompt.ts'
import { stretchesByText } from './stretches.ts'

/** What prompts are reused against, and how. */
export interface ReuseState {
  readonly mirror: Pick<CacheMirror, 'order' | 'createIndex'>
  readonly tenant: string
  readonly options: RequestOptions
  readonly wording: Wording
  /** the time it may take */
  readonly budget?: WorkBudget | undefined
}

/**
 * Context reuse for the prompts of a body (ContextPilot §5, §6). Every context is aligned with what the engine holds
 * after exactly the same text, and blocks that occur earlier in the prompt become pointers. If a context's turn was
 * sent before, it is sent again as it was. Changes nothing but what it returns.
 */
export function reusePrompts(layout: Layout, state: ReuseState): ReusedBody {
  return new BodyReuse(layout, state).write()
}

/** A block as it is sent. */
interface RenderedBlock {
  /** undefined: it is sent as received, neither moved nor shortened */
  readonly pieces: readonly Piece[] | undefined
  /** in characters */
  readonly length: number
  /** its id in the index */
  readonly id: BlockId
  /** id and label, which together distinguish it from all other blocks */
  readonly identity: string
}

type Labels = ReturnType<typeof labelsAsSent>

class BodyReuse {
  readonly #layout: Layout
  readonly #state: ReuseState
  readonly #orders: BodyOrders
  /** filled in text by text */
  readonly #splices: TextSplice[][]
  readonly #turns = new Map<TurnKey, SentTurn>()
  /** of the prompt that is being written */
  #writer = new SentPromptWriter()
  #shown = new ShownBlocks()

  constructor(layout: Layout, state: ReuseState) {
    this.#layout = layout
    this.#state = state
    this.#orders = new BodyOrders(layout, state.mirror, state.options.order)
    this.#splices = layout.texts.map(() => [])
  }

  write(): ReusedBody {
    const prompts = this.#layout.prompts.map((own) => this.#writePrompt(own))
    return { splices: this.#splices, prompts, turns: this.#turns }
  }

  #writePrompt({ preamble, messages }: PromptLayout): ReusedPrompt {
    this.#writer = new SentPromptWriter()
    this.#shown = new ShownBlocks(this.#state.options.overlaps === true)
    this.#writer.write(JSON.stringify([this.#state.tenant, preamble]))
    const contexts = messages.flatMap((laidOut) => {
      this.#state.budget?.check()
      this.#writer.write(laidOut.identity)
      const reused = this.#writeMessage(laidOut)
      this.#writer.mark()
      noteTurn(this.#turns, laidOut, reused)
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
      let at = 0
      for (const { start, end, context, slot } of stretches.get(place) ?? []) {
        this.#writeText(laidOut, place, { start: at, end: start })
        at = end
        // at the first slot of a context, everything before it has been written
        const { ends } = written[context]!
        reused[context] ??= { ends, ...this.#reuseContext(contexts[context]!, laidOut, context) }
        const own = reused[context]
        if (slot !== undefined) {
          this.#state.budget?.check()
          const { pieces, identity, id, length } = this.#renderSlot(own, slot)
          if (pieces) this.#splices[place]!.push({ start, end, pieces })
          this.#writer.writeBlock(identity, length)
          this.#writer.mark()
          const { blocks, sizes } = written[context]!
          blocks.push(id)
          sizes.push(length)
          ends.push(this.#writer.length)
        } else if (own.annotation !== undefined) {
          const words = setApart(original, start, own.annotation)
          this.#splices[place]!.push({ start, end, pieces: [words] })
          this.#writer.write(words)
        }
      }
      this.#writeText(laidOut, place, { start: at, end: original.length })
    }
    reused.forEach(({ scope, found }, i) => {
      if (found.isResult) return
      const own = written[i]!
      this.#writer.addContext({ scope, ...own })
      this.#orders.add(scope, own.blocks, own.sizes)
    })
    return reused
  }

  /** Writes text outside the blocks, which may still contain a block's label. */
  #writeText(laidOut: LaidOutMessage, place: number, span: Span): void {
    const { text, changes } = translate(laidOut, place, this.#layout.texts[place]!, span)
    for (const { start, end, text: label } of changes) this.#splices[place]!.push({ start, end, pieces: [label] })
    this.#writer.write(text)
    this.#shown.addText(text)
  }

  #renderSlot({ found, order, pointers }: ReusedContext, place: number): RenderedBlock {
    const from = order[place]!
    const slot = found.slots[place]!
    const { texts } = this.#layout
    const label = found.positional && slot.label ? texts[slot.text]!.slice(slot.label.start, slot.label.end) : ''
    const own = pointers.length > 0 ? pointers.filter((pointer) => pointer.place === place) : pointers
    const known = found.blocks[from]!
    if (from === place && own.length === 0)
      return { pieces: undefined, length: slot.end - slot.start, id: known, identity: known + label }
    const source = found.slots[from]!
    // a label inside the stretch that a pointer replaces disappears with it
    const keepsLabel = own.length === 0 || !holdsLabel(source)
    const pieces = renderBlock(texts, slot, source, found.positional && keepsLabel, own)
    const id = own.length > 0 ? toBlockId(piecesText(texts, pieces)) : known
    return { pieces, length: piecesLength(pieces), id, identity: id + label }
  }

  #reuseContext(found: PromptContext, laidOut: LaidOutMessage, place: number): Omit<ReusedContext, 'ends'> {
    const { options, wording } = this.#state
    const scope = this.#writer.mark()
    const past = laidOut.past[place]
    if (past && isPermutation(past.order, found.slots.length)) {
      const labels = labelsAsSent(this.#layout.texts, found, past.order)
      const pointers = repeatPointers(this.#freshBlocks(found, past.order, labels), past.pointers, this.#shown)
      return { found, scope, searchPath: [], ...past, pointers }
    }
    this.#state.budget?.look()
    // texts that are compared, quoted, counted or handed back have to be there
    const isOpen = !found.isLeftWhole && found.template?.mayMove !== false && laidOut.message.role !== 'documents'
    const mayPoint = options.dedup !== false && isOpen && !this.#isLate
    const { order, searchPath } = this.#order(found, scope, mayPoint)
    const labels = labelsAsSent(this.#layout.texts, found, order)
    const fresh = this.#freshBlocks(found, order, labels)
    const pointers = mayPoint
      ? deduplicateContext(fresh, this.#shown, wording.location)
      : repeatPointers(fresh, [], this.#shown)
    const annotation = options.annotate === false ? undefined : this.#annotate(found, order, labels, pointers)
    return { order, annotation, pointers, found, scope, searchPath }
  }

  /** Whether time is up: from then on blocks stay as they are, and are only written and remembered. */
  get #isLate(): boolean {
    return this.#state.budget?.isSpent ?? false
  }

  /** Orders the blocks. Those that become pointers stay in place if nothing else moves, and come last otherwise. */
  #order(
    found: PromptContext,
    scope: ScopeId,
    mayPoint: boolean,
  ): Pick<ReusedContext, 'searchPath'> & { order: number[] } {
    const places = [...found.slots.keys()]
    const kept = places.filter((place) => isKept(found, place))
    const asReceived = { order: places, searchPath: [] }
    if (this.#state.options.reorder === false || found.isResult || isLeftAlone(found) || this.#isLate) return asReceived
    const repeated = mayPoint ? this.#repeatedPlaces(found) : new Set<number>()
    const isFresh = (place: number): boolean => !repeated.has(place) && !isKept(found, place)
    const stated = this.#orders.stated.get(found)
    if (stated) return { order: [...stated.filter(isFresh), ...repeated, ...kept], searchPath: [] }
    const fresh = places.filter(isFresh)
    const sizes = fresh.map((place) => found.slots[place]!.end - found.slots[place]!.start)
    const ordering = this.#orders.search(
      scope,
      fresh.map((place) => found.blocks[place]!),
      sizes,
    )
    if (!ordering) return asReceived
    const { order, searchPath } = ordering
    if (order.every((from, place) => from === place)) return { order: places, searchPath }
    return { order: [...order.map((from) => fresh[from]!), ...repeated, ...kept], searchPath }
  }

  /** Finds blocks that occur earlier, except those shorter than any pointer would be. */
  #repeatedPlaces(found: PromptContext): Set<number> {
    const shortest = this.#state.wording.location.length
    const seen = new Set<BlockId>()
    const repeated = new Set<number>()
    for (const [place, content] of found.contents.entries()) {
      const { start, end } = found.slots[place]!.content
      if (!isKept(found, place) && end - start > shortest && (seen.has(content) || this.#shown.find(content)))
        repeated.add(place)
      seen.add(content)
    }
    return repeated
  }

  /** `labels`, by place: as they are sent in this order. */
  #freshBlocks(found: PromptContext, order: readonly number[], labels: Labels): FreshBlock[] {
    const { texts } = this.#layout
    return order.map((from, place) => {
      const slot = found.slots[from]!
      const content = texts[slot.text]!.slice(slot.content.start, slot.content.end)
      const isInside = holdsLabel(slot)
      const block = {
        id: found.contents[from]!,
        content,
        // how pointers refer to a block without a label, besides its first words
        label: labels[place] ?? `[Doc_${place + 1}]`,
        isLabelled: slot.label !== undefined,
        isKept: isKept(found, from),
        // nothing may be left out of data or of counted lines; lazy, since it searches text and is rarely needed
        isWhole: () =>
          isInside || found.isCounted || isJson(texts[slot.text]!, slot) || holdsPositions(texts[slot.text]!, slot),
      }
      return isInside && found.positional ? { sent: this.#relabel(found.slots[place]!, slot), ...block } : block
    })
  }

  #annotate(
    found: PromptContext,
    order: readonly number[],
    labels: Labels,
    pointers: readonly SentPointer[],
  ): string | undefined {
    // a label inside the stretch that a pointer replaces disappears with it
    const hidden = pointers.filter(({ place }) => holdsLabel(found.slots[order[place]!]!)).map(({ place }) => place)
    return renderAnnotation(found, order, labels, this.#state.wording, new Set(hidden))
  }

  /** Returns the content of a block that contains its label, with the label of its new place. */
  #relabel({ text, label }: ContextSlot, from: ContextSlot): string {
    const [texts, own] = [this.#layout.texts, from.label!]
    const front = texts[from.text]!.slice(from.content.start, own.start)
    const number = label ? texts[text]!.slice(label.start, label.end) : ''
    return front + number + texts[from.text]!.slice(own.end, from.content.end)
  }
}

/** Whether a block stays last and is sent in full, because it may go on behind its end. */
function isKept({ keepsLast, slots }: PromptContext, place: number): boolean {
  return keepsLast === true && place === slots.length - 1
}

function holdsLabel({ label, content }: ContextSlot): boolean {
  return label !== undefined && label.start >= content.start && label.end <= content.end
}
