import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { toArray, toObject } from '../../common/json/json-value.ts'
import {
  allMembersOf,
  asksForData,
  isCalling,
  isForced,
  isSet,
  type Members,
  mayAlign,
  takesPlace,
} from './answer-data.ts'

/** What the members of a request forbid, whatever its texts say. */
export interface Demands {
  /** why nothing at all is rewritten: the caller measures or cuts the prompt, or media belong to places in it */
  readonly asReceived: 'measured' | 'media' | undefined
  /** the numbers of documents may come back where nobody maps them: in data, tool calls, stored or very short answers */
  readonly areNumbersData: boolean
  /** the answer is data that can hold a value for each document, in their order, or a tool's call with a place */
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
    isOrderData: (isData && mayAlign(members)) || takesPlace(members),
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

/** An answer of so few tokens is a name, a label or a number. */
const shortAnswer = 4

function isShort(members: Members): boolean {
  return allMembersOf(members).some((values) =>
    [values.max_tokens, values.max_completion_tokens, values.max_output_tokens, values.max_new_tokens].some(
      (limit) => typeof limit === 'number' && limit <= shortAnswer,
    ),
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

/*
 * Members of OpenAI, Anthropic, vLLM, SGLang and llama.cpp by which a caller reads its prompt back, by position or by
 * token, or lets the engine drop a part of it. By kind, not by name: engines add such members with every version.
 */
const MEASURES = new RegExp(
  [
    '^echo$',
    '(?:^|_)(?:prompt|input)_(?:logprobs?|logits?|scores)$',
    '^(?:return|include)_(?:.*_)?(?:logprobs?|logits?|token_ids|tokens_as_token_ids|hidden_states|prompt\\w*|input\\w*|routed_experts|attention\\w*)$',
    '^(?:logprob|logits|score)_start',
    '^truncat(?:e|ion)\\w*$|^(?:max|limit)_(?:prompt|input|context)_(?:len\\w*|tokens)$|^n_(?:keep|discard)$|^context_(?:shift|management)$',
    // SGLang continues a session at an offset
    '^session_params$',
  ].join('|'),
)

/** Whether the prompt is read back, measured, scored or cut, so that any change of it changes what comes back. */
function isMeasured(members: Members): boolean {
  return allMembersOf(members).some((values) =>
    Object.entries(values).some(
      ([name, value]) => MEASURES.test(name) && isSet(value) && !['disabled', 'none', 'off'].includes(value as string),
    ),
  )
}

// values beside a prompt, for the placeholders in it: `image_data`, `multi_modal_data`, `audios`, `prompt_embeds`
const MEDIA_MEMBER =
  /^(?:image|audio|video|picture|file|multi_?modal|mm|pixel|speech)\w*_?(?:data|items|values|urls?|paths?|inputs?)$|^(?:images?|audios?|videos?|media)$|_embeds$/

/** Whether media are given beside a plain prompt, which belong to its placeholders by position. */
function isTiedToMedia(members: Members): boolean {
  // in chats, `audio` says how the answer shall sound
  if (members.messages !== undefined || members.input !== undefined) return false
  return Object.entries(members).some(([name, value]) => MEDIA_MEMBER.test(name) && isSet(value))
}

const TEXT_PART = /^(?:input_|output_)?text$|^refusal$|^thinking$|^redacted_thinking$|^tool_|_call(?:_output)?$/

/** Whether messages have parts other than texts and tool calls. */
function showsMedia({ messages, input }: Members): boolean {
  return [...toArray(messages), ...toArray(input)].some((message) =>
    toArray(toObject(message).content).some((part) => !TEXT_PART.test(String(toObject(part).type))),
  )
}
