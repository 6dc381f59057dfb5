import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { asksForData, isCalling, isForced, mayAlign } from './answer-data.ts'
import { isMeasured, isTiedToMedia, showsMedia } from './prompt-use.ts'
import { isSet, type Members, samplingOf, toArray } from './values.ts'

/** What the members of a request forbid, whatever its texts say. */
export interface Demands {
  /** why nothing at all is rewritten: the caller measures or cuts the prompt, or media belong to places in it */
  readonly asReceived: 'measured' | 'media' | undefined
  /** the numbers of documents may come back where nobody maps them: in data, tool calls, stored or very short answers */
  readonly areNumbersData: boolean
  /** the answer is data that can hold a value for each document, in their order */
  readonly isOrderData: boolean
  /** pictures, sounds or videos are part of the messages */
  readonly hasMedia: boolean
}

/** Reads what the members of a request's body forbid. */
export function readDemands(api: PromptApi, members: Members): Demands {
  const isData = asksForData(members) || isForced(members)
  return {
    asReceived: isMeasured(members) ? 'measured' : isTiedToMedia(members) ? 'media' : undefined,
    areNumbersData: isData || isCalling(members) || isStored(api, members) || isShort(members) || showsTokens(members),
    isOrderData: isData && mayAlign(members),
    hasMedia: showsMedia(members),
  }
}

/** Whether the answer is kept by the engine, which returns it later as the model wrote it, or continues such an answer. */
function isStored(api: PromptApi, members: Members): boolean {
  const { store, background, previous_response_id: previous, conversation } = members
  if (isSet(background) || isSet(previous) || isSet(conversation)) return true
  // responses are stored unless they say otherwise
  return api === 'responses' ? store !== false : store === true
}

const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens']

/** An answer of so few tokens is a name, a label or a number. */
const shortAnswer = 4

function isShort(members: Members): boolean {
  return [members, ...samplingOf(members)].some((values) =>
    limits.some((name) => typeof values[name] === 'number' && values[name] <= shortAnswer),
  )
}

/**
 * Whether alternatives to the answer's tokens are returned, or places in its text. The probabilities of the answer itself
 * (`logprobs: true`) say how sure a model is, and nobody reads numbers from them.
 */
function showsTokens(members: Members): boolean {
  const { logprobs, top_logprobs: top, include } = members
  return typeof logprobs === 'number' || isSet(top) || toArray(include).some((name) => /logprobs/.test(String(name)))
}
