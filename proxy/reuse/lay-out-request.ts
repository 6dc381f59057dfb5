import type { KnownTurns } from '#index/conversation-store.ts'
import type { RequestOptions } from '../common/request-options.ts'
import type { PromptSet } from '../prompt/body/prompt.ts'
import type { PromptBody } from '../prompt/body/prompt-body.ts'
import { layOutPrompts } from '../prompt/lay-out-prompt.ts'
import type { Layout } from '../prompt/layout.ts'
import { type PlacedContext, placeExplicitContext } from '../prompt/place-explicit-context.ts'
import { withTurnsAsReceived } from '../prompt/turns/turn-memory.ts'
import type { DecisionInput, DecisionState, LaidOut } from './decision.ts'

/**
 * Lays out the prompts of a request with the turns that are known, one message or some thousand lines per step. Returns
 * undefined if they are to be left alone.
 */
export function* layOut(
  input: DecisionInput,
  { store }: Pick<DecisionState, 'store'>,
): Generator<void, LaidOut | undefined> {
  const { prompt } = input.received
  if (!prompt?.set || input.mode === 'off') return undefined
  const placed = place(prompt, prompt.set)
  return { layout: yield* layOutPlaced(prompt, prompt.set, placed, input, store), placed }
}

/** Places the request's explicit blocks in its prompts; undefined if it has none. */
export function place({ explicit }: PromptBody, set: PromptSet): PlacedContext | undefined {
  return explicit?.blocks && placeExplicitContext(set, explicit.blocks)
}

/** Returns the options of a request. What goes as received is neither ordered nor shortened nor annotated. */
export function optionsOf({
  options,
  received: { prompt },
}: Pick<DecisionInput, 'options' | 'received'>): RequestOptions {
  const asReceived = prompt?.demands.asReceived && { reorder: false, dedup: false, annotate: false }
  return { ...options, ...prompt?.explicit?.options, ...asReceived }
}

/** Does the same for the prompts of a body in which explicit blocks have been placed. */
export function layOutPlaced(
  prompt: PromptBody,
  set: PromptSet,
  placed: PlacedContext | undefined,
  input: DecisionInput,
  store: KnownTurns,
): Generator<void, Layout> {
  const { isRefused, tenant, conversation, certain, known, permit } = input
  const options = optionsOf(input)
  const { asReceived, areNumbersData, isOrderData, media } = prompt.demands
  return layOutPrompts(set, placed, {
    tenant,
    conversation: prompt.explicit?.conversation ?? conversation,
    salt: prompt.members.cache_salt,
    options,
    store: isRefused || asReceived ? withTurnsAsReceived(store) : store,
    certain: certain?.finder,
    known,
    // what the application states to be a set needs no permission
    permit: options.set === true ? undefined : permit,
    stays: {
      numbers: options.citations !== false && areNumbersData,
      shared: options.citations !== false,
      data: isOrderData,
      media,
      isSet: options.set === true,
    },
  })
}
