import { isSet, type Members, samplingOf, toArray, toObject } from './values.ts'

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
export function isMeasured(members: Members): boolean {
  return [members, ...samplingOf(members)].some((values) =>
    Object.entries(values).some(([name, value]) => MEASURES.test(name) && isSet(value) && !isNothing(value)),
  )
}

function isNothing(value: unknown): boolean {
  return value === 'disabled' || value === 'none' || value === 'off'
}

// values beside a prompt, for the placeholders in it: `image_data`, `multi_modal_data`, `audios`, `prompt_embeds`
const MEDIA_MEMBER =
  /^(?:image|audio|video|picture|file|multi_?modal|mm|pixel|speech)\w*_?(?:data|items|values|urls?|paths?|inputs?)$|^(?:images?|audios?|videos?|media)$|_embeds$/

/** Whether media are given beside a plain prompt, which belong to its placeholders by position. */
export function isTiedToMedia(members: Members): boolean {
  // in chats, `audio` says how the answer shall sound
  if (members.messages !== undefined || members.input !== undefined) return false
  return Object.entries(members).some(([name, value]) => MEDIA_MEMBER.test(name) && isSet(value))
}

const TEXT_PART = /^(?:input_|output_)?text$|^refusal$|^thinking$|^redacted_thinking$|^tool_|_call(?:_output)?$/

/** Whether messages have parts other than texts and tool calls. */
export function showsMedia({ messages, input }: Members): boolean {
  return [...toArray(messages), ...toArray(input)].some((message) =>
    toArray(toObject(message).content).some((part) => !TEXT_PART.test(String(toObject(part).type))),
  )
}
