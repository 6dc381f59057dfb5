import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { RequestId } from '#index/context-block.ts'
import type { PromptApi } from '../prompt/body/prompt.ts'
import type { Json } from '../prompt/body/prompt-builder.ts'

/** Where an API takes a list of prompts. */
const listedIn: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** Whether a body's prompts are a list, be it of one. */
export function isPromptList(api: PromptApi, members: Json): boolean {
  const key = listedIn[api]
  return key !== undefined && Array.isArray(members[key])
}

/** The prompts of one request. */
export interface SentPrompts {
  readonly count: number
  /** an API took them as a list, be it of one */
  readonly isList: boolean
  /** the member `rid` of the body */
  readonly rid?: unknown
}

/**
 * What an engine's reports call the prompts of one request. SGLang 0.5 calls those of a list `ID_0`, `ID_1` …, also when
 * there is but one, unless its client names each; vLLM 0.32 numbers them `cmpl-ID-0-…`, which is reported as `ID` for the
 * first, then `ID-1`, `ID-2` ….
 */
export function promptIds(kind: EngineKind, request: RequestId, { count, isList, rid }: SentPrompts): RequestId[] {
  if (kind === 'sglang' && isList && areNames(rid, count)) return rid
  return Array.from({ length: count }, (_, i) => {
    if (kind === 'sglang') return (isList ? `${request}_${i}` : request) as RequestId
    return (i === 0 ? request : `${request}-${i}`) as RequestId
  })
}

function areNames(rid: unknown, count: number): rid is RequestId[] {
  return Array.isArray(rid) && new Set(rid).size === count && rid.every((name) => typeof name === 'string')
}

/**
 * What an engine's reports call the first prompt of a request that it answers under an id of its own; undefined where
 * they keep the id it was given. vLLM 0.32 takes no id from us for `/v1/responses`: it answers as `resp_ID` and runs
 * `resp_ID_0`. SGLang 0.5 takes none there either, and with n > 1 none at all: each sample has an id of its own, of
 * which the answer bears the first; of the others, and of all behind `/v1/messages`, nobody tells whose they are.
 */
export function reportedName(kind: EngineKind, api: PromptApi, answerId: string): RequestId | undefined {
  if (kind === 'sglang') return api === 'messages' ? undefined : (answerId as RequestId)
  return kind === 'vllm' && api === 'responses' ? (`${answerId}_0` as RequestId) : undefined
}
