import { digestOf, type ScopeId } from '#index/context-block.ts'
import { type KnownTurns, type SentOrder, type SentTurn, type TurnKey, toTurnKey } from '#index/conversation-store.ts'
import type { RequestOptions } from '../common/request-options.ts'
import { contextPlaceholder } from './body/explicit-context.ts'
import type { Prompt, PromptMessage, PromptSet } from './body/prompt.ts'
import type { PromptContext } from './body/prompt-context.ts'
import { type CertainFinder, type CertainList, fromSpans, type SearchedText, shortestSearched } from './certain-list.ts'
import { digestMessage, nameContexts } from './digest-message.ts'
import {
  type FoundContexts,
  type KnownTemplates,
  type PlacedRefusal,
  searchInSteps,
  searchMessage,
} from './find-contexts.ts'
import { finish } from './finish.ts'
import { settleHistory } from './history/settle-history.ts'
import { translateHistory } from './history/translate-history.ts'
import type { LaidOutMessage, Layout, PermitLists, PromptLayout, UnresolvedTurn } from './layout.ts'
import { type PlacedContext, placeBlocks } from './place-explicit-context.ts'
import { markSpokenOf, nothingStays, type Stays } from './places/mark-spoken-of.ts'
import { findTurns } from './scan/find-turns.ts'
import { TurnMemory } from './turns/turn-memory.ts'

/** A message read on its own, regardless of what comes before it. */
interface ReadMessage {
  readonly message: PromptMessage
  readonly identity: string
  /** whether the request's own explicit blocks go into it */
  readonly isPlaced: boolean
  /** its text with a placeholder for blocks of a past request */
  readonly holder: number | undefined
  readonly contexts: readonly PromptContext[]
  /** the contexts that would be found without known chunks and templates; set only if they made a difference */
  readonly unaided: readonly PromptContext[] | undefined
  /** identity of the message as received, independent of known chunks and templates */
  readonly digest: string
}

/** What a layout depends on besides the body. */
export interface LayoutState {
  readonly tenant: string
  /** name of the conversation, from the header */
  readonly conversation: string | undefined
  /** the client's own `cache_salt` */
  readonly salt?: unknown
  /** what the request switches off: a turn is repeated as it was sent under the same options */
  readonly options: RequestOptions
  readonly store: KnownTurns
  /** finds lists whose borders are certain */
  readonly certain?: CertainFinder | undefined
  readonly stays?: Stays | undefined
  /** templates whose lists need not be found anew */
  readonly known?: KnownTemplates | undefined
  /** says which lists may be moved; undefined: all */
  readonly permit?: PermitLists | undefined
}

/**
 * Inserts explicit blocks, including those of past turns, finds all contexts, and recalls every turn. Yields at least
 * once per message, so that the work can be done in slices.
 */
export function* layOutPrompts(
  set: PromptSet,
  placed: PlacedContext | undefined,
  state: LayoutState,
): Generator<void, Layout> {
  const layout = new LayoutWriter(set, placed, state)
  const prompts: PromptLayout[] = []
  for (const prompt of set.prompts) prompts.push(yield* layout.write(prompt))
  return { prompts, ...layout.outcome }
}

class LayoutWriter {
  readonly #set: PromptSet
  readonly #placed: PlacedContext | undefined
  readonly #state: LayoutState
  readonly #memory: TurnMemory
  readonly #texts: string[]
  /** for messages before the newest: what was found in one is found again in later turns, so none is skipped */
  readonly #knownOfOlder: KnownTemplates | undefined
  #unresolved: UnresolvedTurn | undefined
  #isUnsure = false
  readonly #refusals: PlacedRefusal[] = []
  /** identity of all messages before the one being laid out, as received */
  #chain = '' as ScopeId
  /** identity of the conversation: its name, or else how it begins */
  #conversation: ScopeId | undefined

  constructor(set: PromptSet, placed: PlacedContext | undefined, state: LayoutState) {
    this.#set = set
    this.#placed = placed
    this.#state = state
    this.#memory = new TurnMemory(state.store, state.options)
    this.#texts = set.texts.map(({ text }) => text)
    this.#knownOfOlder = state.known && { ...state.known, isSkipped: () => false }
    if (placed) this.#texts[placed.at] = placed.text
  }

  get outcome(): Omit<Layout, 'prompts'> {
    return { texts: this.#texts, unresolved: this.#unresolved, isUnsure: this.#isUnsure, refusals: this.#refusals }
  }

  *write({ preamble, messages }: Prompt): Generator<void, PromptLayout> {
    const { tenant, conversation } = this.#state
    this.#chain = digestOf(JSON.stringify([tenant, conversation]))
    this.#conversation = conversation === undefined ? undefined : this.#chain
    const read: ReadMessage[] = []
    for (const message of messages) {
      read.push(yield* this.#read(message, message === messages.at(-1)))
      yield
    }
    // many conversations share one system prompt, and the first user message decides how its blocks may be ordered
    const opening = read.find(({ message }) => message.role === 'user')
    if (opening) this.#chain = digestOf(this.#chain + opening.digest)
    const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant')
    const laidOut: LaidOutMessage[] = []
    for (const [place, message] of read.entries()) {
      laidOut.push(this.#layOut(message, place < lastAnswer))
      yield
    }
    const { stays, options } = this.#state
    const isMapped = options.citations !== false
    const settled = settleHistory(laidOut, this.#texts, { ...(stays ?? nothingStays), isMapped })
    const marked = yield* markSpokenOf(settled, this.#texts, stays, (refused, { text, start, end }) =>
      this.#refusals.push({ refused, text, start, end }),
    )
    const permitted = this.#state.permit?.(marked, this.#texts) ?? marked
    return { preamble, messages: isMapped ? translateHistory(permitted, this.#texts) : permitted }
  }

  *#read(message: PromptMessage, isNewest: boolean): Generator<void, ReadMessage> {
    const identity = JSON.stringify([message.role, message.rest])
    const isPlaced = this.#placed !== undefined && message.texts.includes(this.#placed.at)
    const mayHold = !isPlaced && message.role !== 'assistant' ? message.texts : []
    const holder = mayHold.findLast((text) => this.#texts[text]!.includes(contextPlaceholder))
    // a message with a placeholder is not searched here: its explicit blocks are its context, or #restore searches it
    const isSearched = !isPlaced && holder === undefined
    const none: Pick<FoundContexts, 'contexts' | 'unaided'> = { contexts: [] }
    const { contexts, unaided } = isSearched ? yield* this.#find(message, this.#state.certain, isNewest) : none
    const digest = digestMessage(identity, message, this.#set, unaided ?? contexts)
    return { message, identity, isPlaced, holder, contexts, unaided, digest }
  }

  *#find(message: PromptMessage, certain: CertainFinder | undefined, isNewest = false): Generator<void, FoundContexts> {
    const known = isNewest ? this.#state.known : this.#knownOfOlder
    const found = yield* searchInSteps(message, this.#texts, certain, known)
    this.#isUnsure ||= found.isUnsure
    this.#refusals.push(...found.refusals)
    return found
  }

  /**
   * Finds the contexts of a message as when it was sent, so that chunks learned or forgotten and templates changed since
   * then change no turn. A past turn without a record was sent as received.
   */
  #findAsSent(
    { message, contexts, unaided }: Pick<ReadMessage, 'message' | 'contexts' | 'unaided'>,
    sent: SentTurn | undefined,
    isPast: boolean,
  ): readonly PromptContext[] {
    const { spans, labels } = sent?.kind === 'ordered' ? sent : {}
    if (!spans) return unaided && (isPast || sent) ? unaided : contexts
    const known = ({ whole }: SearchedText): CertainList[] =>
      spans.flatMap((own, i) => fromSpans(own, labels?.[i] ?? [], whole) ?? [])
    return searchMessage(message, this.#texts, known).contexts
  }

  #layOut(read: ReadMessage, isPast: boolean): LaidOutMessage {
    const { message, identity, isPlaced, holder, unaided, digest } = read
    const { tenant, conversation } = this.#state
    this.#chain = digestOf(this.#chain + digest)
    if (message.role === 'user') this.#conversation ??= this.#chain
    const laidOut = { message, identity, keys: [], explicit: undefined, past: [], contexts: read.contexts }
    const isPlain = !isPlaced && holder === undefined && read.contexts.length === 0
    // most messages of a long history are like this, and they need no keys
    if (isPlain && !this.#mayHaveHeldLists(message)) return laidOut
    const turn = toTurnKey(this.#chain, this.#conversation)
    const isolated = digestOf(JSON.stringify([tenant, conversation, 'alone', digest]))
    // the messages before it may be gone, and they are what identifies an unnamed conversation
    const alone = toTurnKey(isolated, conversation === undefined ? undefined : this.#conversation)
    if (isPlaced) return this.#place(laidOut, this.#placed!, this.#nameExplicit(turn, alone))
    if (holder !== undefined) return this.#restore(laidOut, holder, isPast, this.#nameExplicit(turn, alone))
    const sent = this.#memory.recallTurn(isPast ? [turn, alone] : [turn], isPast)
    const contexts = this.#findAsSent(read, sent, isPast)
    if (contexts.length === 0) return { ...laidOut, contexts }
    const ordered = { ...laidOut, contexts, keys: this.#memory.keysOfOrdered([turn, alone]), past: contextsOf(sent) }
    return message.isRendered ? this.#recallTurns(ordered, unaided ?? contexts) : ordered
  }

  /** Returns whether lists may have been found in it that would not be found now. */
  #mayHaveHeldLists({ role, texts }: PromptMessage): boolean {
    if (role === 'assistant' || !this.#state.certain) return false
    return texts.reduce((sum, text) => sum + this.#texts[text]!.length, 0) >= shortestSearched
  }

  /**
   * Recalls each list by itself: a prompt rendered by the client is one message, but its lists belong to many turns.
   */
  #recallTurns(laidOut: LaidOutMessage, unaided: readonly PromptContext[]): LaidOutMessage {
    const { message, contexts, identity } = laidOut
    const { tenant, conversation } = this.#state
    const text = this.#set.texts[message.texts[0]!]!.text
    const base = digestOf(JSON.stringify([tenant, conversation, 'rendered', identity]))
    const named = conversation === undefined ? undefined : this.#conversation
    const names = nameContexts(base, text, contexts, unaided).map((digest) => toTurnKey(digest, named))
    const asked = isAnswered(text, contexts) ? contexts.length : contexts.length - 1
    const recall = (name: TurnKey, i: number): SentOrder | undefined =>
      i < asked ? contextsOf(this.#memory.recallTurn([name], true))[0] : undefined
    const past = laidOut.past.length > 0 ? laidOut.past : names.map(recall)
    const contextKeys = names.map((name) => this.#memory.keysOfOrdered([name]))
    // a list that was not known when it was asked about was sent as received
    const kept = [...contexts.keys()].filter((i) => i >= asked || past[i] || !contexts[i]!.certain)
    return {
      contextKeys: kept.map((i) => contextKeys[i]!),
      ...laidOut,
      contexts: kept.map((i) => contexts[i]!),
      past: kept.map((i) => past[i]),
    }
  }

  /**
   * Names a message with explicit blocks. Without a named conversation it has no name: others may say the same words,
   * and must not get these blocks.
   */
  #nameExplicit(...turns: readonly TurnKey[]): TurnKey[] {
    const { conversation, salt } = this.#state
    if (conversation === undefined) return []
    return turns.map((turn) => toTurnKey(digestOf(JSON.stringify([turn, salt])), this.#conversation))
  }

  /**
   * Lays out the turn that the request's explicit blocks belong to. Equal words with other blocks are a different turn.
   */
  #place(laidOut: LaidOutMessage, { context, blocks }: PlacedContext, names: readonly TurnKey[]): LaidOutMessage {
    const placed = { ...laidOut, contexts: [context], explicit: blocks }
    if (names.length === 0) return placed
    const withBlocks = toTurnKey(digestOf(JSON.stringify([names[0], context.blocks])), this.#conversation)
    return {
      ...placed,
      past: this.#memory.recallPlaced(withBlocks),
      keys: this.#memory.keysOfExplicit(names, blocks, withBlocks),
    }
  }

  /** Inserts the explicit blocks of a past turn again, if they are known unambiguously. */
  #restore(laidOut: LaidOutMessage, at: number, isPast: boolean, names: readonly TurnKey[]): LaidOutMessage {
    const known = this.#memory.recallExplicit(isPast ? names : names.slice(0, 1), isPast)
    if (!known || known === 'ambiguous') {
      // merely mentioning a placeholder is no error, unless an answer was given as if blocks had been there
      if (known) this.#unresolved = 'ambiguous_turn'
      else if (isPast) this.#unresolved ??= 'unknown_turn'
      return { ...laidOut, contexts: finish(this.#find(laidOut.message, undefined)).contexts }
    }
    const { blocks } = known
    const { text, context } = placeBlocks(this.#texts[at]!, at, blocks)
    this.#texts[at] = text
    const past = known.context ? [known.context] : []
    return { ...laidOut, contexts: [context], past, keys: this.#memory.keysOfExplicit(names, blocks), explicit: blocks }
  }
}

/** Returns how the contexts of a message without explicit blocks were sent. */
function contextsOf(sent: SentTurn | undefined): readonly SentOrder[] {
  return sent?.kind === 'ordered' ? sent.contexts : []
}

/** Returns whether a further turn asks something after the last list of a rendered prompt. */
function isAnswered(text: string, contexts: readonly PromptContext[]): boolean {
  const { end } = contexts.at(-1)!.slots.at(-1)!
  return (findTurns(text) ?? []).some((turn) => turn.start >= end && text.slice(turn.start, turn.end).trim() !== '')
}
