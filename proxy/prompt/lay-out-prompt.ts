import { createHash } from 'node:crypto'
import type { ConversationStore, SentOrder, TurnKey } from '#index/conversation-store.ts'
import { digestOf } from './digest-of.ts'
import { contextPlaceholder } from './explicit-context.ts'
import { findContexts, type PatternLists } from './find-contexts.ts'
import { type PlacedContext, placeBlocks } from './place-explicit-context.ts'
import type { Prompt, PromptMessage } from './prompt.ts'
import type { PromptSet } from './prompt-body.ts'
import type { PromptContext } from './prompt-context.ts'

/** A message with its contexts found. */
export interface LaidOutMessage {
  readonly message: PromptMessage
  /** what names the message in the chat template, besides its texts */
  readonly identity: string
  readonly contexts: readonly PromptContext[]
  /** how its contexts were sent before, by place; empty when they were not */
  readonly past: readonly SentOrder[]
  /** under what it is to be remembered */
  readonly keys: readonly TurnKey[]
  /** the blocks that were given beside it */
  readonly explicit: readonly string[] | undefined
}

/** A prompt with its blocks in place, in the order received. */
export interface PromptLayout {
  readonly preamble: string
  readonly messages: readonly LaidOutMessage[]
}

/** All prompts of a body. */
export interface Layout {
  /** by place in `PromptSet.texts`, explicit blocks in place */
  readonly texts: readonly string[]
  readonly prompts: readonly PromptLayout[]
  /** past messages hold a placeholder for blocks that are not known for sure */
  readonly hasUnknownTurn: boolean
}

/** What a layout depends on besides the body. */
export interface LayoutState {
  readonly tenant: string
  readonly conversation: string | undefined
  readonly store: ConversationStore
  readonly blockTemplate: string
  readonly patternLists?: PatternLists | undefined
}

/** Puts explicit blocks in place, those of past turns too, finds all contexts, and recalls every turn. */
export function layOutPrompts(set: PromptSet, placed: PlacedContext | undefined, state: LayoutState): Layout {
  const layout = new LayoutWriter(set, placed, state)
  return { prompts: set.prompts.map((prompt) => layout.write(prompt)), ...layout.outcome }
}

/** The names of a message as received. */
interface TurnNames {
  /** with all in front of it */
  readonly turn: TurnKey
  /** by itself: a client may drop what stands in front of an answered turn */
  readonly alone: TurnKey
  /** it was answered */
  readonly isPast: boolean
}

class LayoutWriter {
  readonly #set: PromptSet
  readonly #placed: PlacedContext | undefined
  readonly #state: LayoutState
  readonly #texts: string[]
  #hasUnknownTurn = false

  constructor(set: PromptSet, placed: PlacedContext | undefined, state: LayoutState) {
    this.#set = set
    this.#placed = placed
    this.#state = state
    this.#texts = set.texts.map(({ text }) => text)
    if (placed) this.#texts[placed.at] = placed.text
  }

  get outcome(): Omit<Layout, 'prompts'> {
    return { texts: this.#texts, hasUnknownTurn: this.#hasUnknownTurn }
  }

  write({ preamble, messages }: Prompt): PromptLayout {
    const { tenant, conversation } = this.#state
    const chain = createHash('sha256').update(JSON.stringify([tenant, conversation]))
    const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant')
    return {
      preamble,
      messages: messages.map((message, place) => {
        const identity = JSON.stringify([message.role, message.rest])
        const own = createHash('sha256').update(`${identity}${message.texts.length}`)
        for (const text of message.texts) own.update(`${this.#set.texts[text]!.text}\0`)
        const digest = digestOf(own)
        const turn = digestOf(chain.update(digest))
        const alone = digestOf(createHash('sha256').update(JSON.stringify([tenant, conversation, 'alone', digest])))
        return this.#layOut(message, identity, { turn, alone, isPast: place < lastAnswer })
      }),
    }
  }

  #layOut(message: PromptMessage, identity: string, { turn, alone, isPast }: TurnNames): LaidOutMessage {
    const { store, patternLists, conversation } = this.#state
    const laidOut = { message, identity, keys: [turn, alone], explicit: undefined, past: [], contexts: [] }
    if (message.role === 'assistant') return laidOut
    // nothing but the name of its conversation tells whose blocks a message had that stands behind another history
    const keys = conversation === undefined ? [turn] : [turn, alone]
    if (this.#placed && message.texts.includes(this.#placed.at)) return this.#place(laidOut, this.#placed, keys)
    const restored = this.#restore({ ...laidOut, keys }, isPast)
    if (restored) return restored
    const contexts = findContexts(message, this.#texts, patternLists)
    if (contexts.length === 0) return laidOut
    const known = store.recall(turn) ?? (isPast ? store.recall(alone) : undefined)
    return { ...laidOut, contexts, past: known?.kind === 'ordered' ? known.contexts : [] }
  }

  /** The turn that has blocks beside it: equal words with other blocks are another turn. */
  #place(laidOut: LaidOutMessage, { context, blocks }: PlacedContext, keys: readonly TurnKey[]): LaidOutMessage {
    const withBlocks = digestOf(createHash('sha256').update(JSON.stringify([keys[0], context.blocks])))
    const past = this.#state.store.recall(withBlocks)
    return {
      ...laidOut,
      contexts: [context],
      past: past?.kind === 'explicit' ? [past.context] : [],
      keys: [withBlocks, ...keys],
      explicit: blocks,
    }
  }

  /** A past turn whose blocks were given beside it gets them back; undefined when there are none to give. */
  #restore(laidOut: LaidOutMessage, isPast: boolean): LaidOutMessage | undefined {
    const { store, blockTemplate } = this.#state
    const { message, keys } = laidOut
    const at = message.texts.findLast((text) => this.#texts[text]!.includes(contextPlaceholder))
    if (at === undefined) return undefined
    const sent = store.recall(keys[0]!) ?? (isPast ? store.recall(keys.at(-1)!) : undefined)
    if (sent?.kind === 'ambiguous') this.#hasUnknownTurn = true
    if (sent?.kind !== 'explicit') return undefined
    const { text, context } = placeBlocks(this.#texts[at]!, at, sent.blocks, blockTemplate)
    this.#texts[at] = text
    return { ...laidOut, contexts: [context], past: [sent.context], explicit: sent.blocks }
  }
}
