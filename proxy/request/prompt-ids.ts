import type { Json } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Call, RoutedCall } from '../call/call.ts'

/** The member in which an API takes a list of prompts. */
const listedIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** Whether a body has one prompt, of text or of token ids. */
export function hasOnePrompt(api: PromptApi, members: Json): boolean {
  const key = listedIn[api]
  const given = (key === undefined ? undefined : members[key]) ?? members.input_ids
  return !Array.isArray(given) || given.length < 2 || given.every((id) => typeof id === 'number')
}

/** Whether a body gives its prompts as a list, even a list of one. */
export function isPromptList(api: PromptApi, members: Json): boolean {
  const key = listedIn[api]
  return key !== undefined && Array.isArray(members[key])
}

/** Returns the ids that an engine's reports may use for the prompts of a request. */
export function idsOfPrompts(
  { api, content: { members } }: Pick<Call, 'api' | 'content'>,
  { replica, decision }: Pick<RoutedCall, 'replica' | 'decision'>,
  request: RequestId,
): RequestId[] {
  const isList = isPromptList(api, members)
  return replica.adapter.promptIds(request, { count: decision.sent.length, isList, rid: members.rid })
}
