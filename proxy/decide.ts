import { isUtf8 } from 'node:buffer'
import type { SentPrompt } from '#index/cache-event.ts'
import type { CacheMirror } from '#index/cache-mirror.ts'
import type { ConversationStore, SentTurn, TurnKey } from '#index/conversation-store.ts'
import { ProxyError } from './errors.ts'
import { type Chat, type ChatBody, readChatBody, writeChat } from './prompt/chat.ts'
import { type PlacedContext, placeExplicitContext } from './prompt/place-explicit-context.ts'
import type { RequestOptions } from './request-options.ts'
import { type ReusedContext, reusePrompt } from './reuse-prompt.ts'

export type Mode = 'on' | 'shadow' | 'off'

/** What is to be done with one request. */
export interface Decision {
  /** the body to send; undefined: as received */
  readonly body: string | undefined
  /** the body as received, for splicing; undefined when it is no JSON object that could be read */
  readonly received: Pick<ChatBody, 'body' | 'tags'> | undefined
  readonly contexts: readonly ReusedContext[]
  readonly sent: SentPrompt | undefined
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
  readonly predictedCachedTokens: number
  readonly blocks: number
  readonly moved: number
  /** why nothing was done */
  readonly skipped: string | undefined
  /** a fault of ours, if that is why */
  readonly fault: unknown
  readonly timing: { readonly parse: number; readonly index: number }
}

export interface DecisionInput {
  readonly body: Buffer
  readonly isEncoded: boolean
  readonly mode: Mode
  readonly tenant: string
  /** name of the conversation, from the header */
  readonly conversation: string | undefined
  readonly options: RequestOptions
}

export interface DecisionState {
  readonly mirror: CacheMirror
  readonly store: ConversationStore
  /** milliseconds */
  readonly now: () => number
}

const untouched = {
  body: undefined,
  received: undefined,
  contexts: [],
  sent: undefined,
  turns: new Map<TurnKey, SentTurn>(),
  predictedCachedTokens: 0,
  blocks: 0,
  moved: 0,
  fault: undefined,
}

/**
 * Decides how a chat completion request is sent, and changes nothing. The one place that fails open: a fault of ours
 * leaves the request as received. Throws `invalid_body` for what the client must mend.
 */
export function decide(input: DecisionInput, state: DecisionState): Decision {
  const started = state.now()
  const skip = (skipped: string): Decision => ({
    ...untouched,
    skipped,
    timing: { parse: state.now() - started, index: 0 },
  })
  if (input.isEncoded) return skip('encoded_body')
  if (!isUtf8(input.body)) throw new ProxyError('invalid_body', 'The request body is not valid JSON: it is not UTF-8.')
  const received = readChatBody(withoutByteOrderMark(input.body.toString()))
  const chat = received?.chat
  if (!chat) return { ...skip('unexpected_shape'), received }
  const placed = placeExplicitContext(chat)
  const parsed = state.now()
  const timing = (): Decision['timing'] => ({ parse: parsed - started, index: state.now() - parsed })
  const options = { ...input.options, ...chat.explicit?.options }
  try {
    return { ...reuse(chat, placed, input, options, state), received, timing: timing() }
  } catch (fault) {
    const body = withExplicitBlocks(chat, placed)
    return { ...untouched, received, body, skipped: 'internal_error', fault, timing: timing() }
  }
}

function reuse(
  chat: Chat,
  placed: PlacedContext | undefined,
  input: DecisionInput,
  options: RequestOptions,
  { mirror, store }: DecisionState,
): Omit<Decision, 'timing' | 'received'> {
  if (input.mode === 'off') return { ...untouched, body: withExplicitBlocks(chat, placed), skipped: 'mode_off' }
  const conversation = chat.explicit?.conversation ?? input.conversation
  const reuseState = { mirror, store, tenant: input.tenant, conversation, options }
  const reused = reusePrompt(chat, placed, reuseState)
  const applied =
    input.mode === 'shadow' ? reusePrompt(chat, placed, { ...reuseState, options: { reorder: false } }) : reused
  const blocks = applied.contexts.reduce((sum, context) => sum + context.blocks.length, 0)
  const body = writeChat(chat, applied.texts)
  const isUnchanged = body === chat.body
  return {
    body: isUnchanged ? undefined : body,
    contexts: reused.contexts,
    sent: applied.sent,
    turns: applied.turns,
    predictedCachedTokens: mirror.predictCachedTokens(applied.sent),
    blocks,
    moved: countMoved(applied.contexts),
    skipped: isUnchanged ? reasonFor(input.mode, blocks, options, reused.hasUnknownTurn) : undefined,
    fault: undefined,
  }
}

function reasonFor(mode: Mode, blocks: number, options: RequestOptions, hasUnknownTurn: boolean): string {
  if (hasUnknownTurn) return 'ambiguous_turn'
  if (blocks === 0) return 'no_blocks'
  if (mode === 'shadow') return 'shadow'
  return options.reorder === false ? 'reorder_off' : 'nothing_to_gain'
}

/** Blocks that are not sent in the place they were received in. */
function countMoved(contexts: readonly ReusedContext[]): number {
  return contexts.reduce((sum, { order }) => sum + order.filter((from, place) => from !== place).length, 0)
}

/** The body with explicit blocks in rank order and nothing else changed; undefined when there are none. */
function withExplicitBlocks(chat: Chat, placed: PlacedContext | undefined): string | undefined {
  if (!chat.explicit) return undefined
  const texts = chat.texts.map(({ text }, i) => (i === placed?.context.annotateAt.text ? placed.text : text))
  return writeChat(chat, texts)
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
