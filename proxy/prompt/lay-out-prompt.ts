import { createHash } from 'node:crypto'
import type { ConversationStore, TurnKey } from '#index/conversation-store.ts'
import type { Chat, ChatMessage } from './chat.ts'
import { digestOf } from './digest-of.ts'
import { contextPlaceholder } from './explicit-context.ts'
import { findContexts } from './find-contexts.ts'
import type { PlacedContext } from './place-explicit-context.ts'
import type { PromptContext } from './prompt-context.ts'

/** A message with its contexts found. */
export interface LaidOutMessage {
  readonly message: ChatMessage
  /** what names the message in the chat template, besides its texts */
  readonly identity: string
  readonly contexts: readonly PromptContext[]
  /** names the message as received with everything in front of it, and the blocks that were given beside it */
  readonly turn: TurnKey
  /** for a message with explicit blocks: names it without them, as later requests will repeat it */
  readonly repeatedTurn: TurnKey | undefined
}

/** A prompt with its blocks in place, in the order received. */
export interface PromptLayout {
  /** by place in `Chat.texts` */
  readonly texts: readonly string[]
  readonly messages: readonly LaidOutMessage[]
  /** past messages hold a placeholder for blocks that are no longer known */
  readonly hasUnknownTurn: boolean
}

/** Puts explicit blocks in place, those of past turns too, finds all contexts, and names every turn. */
export function layOutPrompt(
  chat: Chat,
  placed: PlacedContext | undefined,
  { tenant, conversation, store }: { tenant: string; conversation: string | undefined; store: ConversationStore },
): PromptLayout {
  const texts = chat.texts.map(({ text }) => text)
  if (placed) texts[placed.context.annotateAt.text] = placed.text
  const received = createHash('sha256').update(JSON.stringify([tenant, conversation]))
  let hasUnknownTurn = false
  const messages = chat.messages.map((message, place): LaidOutMessage => {
    const identity = JSON.stringify([message.role, message.rest])
    received.update(`${identity}${message.texts.length}`)
    for (const text of message.texts) received.update(`${chat.texts[text]!.text}\0`)
    const turn = digestOf(received)
    if (placed?.context.message === place) {
      const { context } = placed
      const withBlocks = received.copy().update(context.blocks.join(' '))
      return { message, identity, contexts: [context], turn: digestOf(withBlocks), repeatedTurn: turn }
    }
    if (message.role !== 'assistant' && !recallExplicit(texts, message, turn, store)) hasUnknownTurn = true
    return { message, identity, contexts: findContexts(place, message, texts), turn, repeatedTurn: undefined }
  })
  return { texts, messages, hasUnknownTurn }
}

/** Restores the text of a past turn whose blocks were given beside it; false when they are not known for sure. */
function recallExplicit(texts: string[], message: ChatMessage, turn: TurnKey, store: ConversationStore): boolean {
  const place = message.texts.findLast((text) => texts[text]!.includes(contextPlaceholder))
  if (place === undefined) return true
  const sent = store.recall(turn)
  if (sent?.kind === 'explicit') texts[place] = sent.text
  return sent?.kind !== 'ambiguous'
}
