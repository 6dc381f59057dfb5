import type { EngineQuestion } from '#engine-adapters/ask-engine.ts'
import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { isObject, tryObject } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { promptOnly } from '#engine-adapters/prompt-only.ts'
import type { RequestId } from '#index/context-block.ts'
import { credentialsOf, withEngineCredentials } from '../../access/engine-credentials.ts'
import type { Replica } from '../../replicas/replica.ts'

/** A request that computes a prompt and generates one token. */
export type WarmUp = Required<EngineQuestion>

/** Longer bodies are not sent once more, in bytes. */
export const longestBody: number = 256 * 1024

/** The shortest answer, in each API. */
const oneToken: Readonly<Record<PromptApi, object>> = {
  chat_completions: { max_tokens: 1 },
  completions: { max_tokens: 1 },
  messages: { max_tokens: 1 },
  responses: { max_output_tokens: 1, store: false },
  generate: { sampling_params: { max_new_tokens: 1 } },
}

/**
 * Writes the request that was sent to `from` once more for `to`: the same prompt under the same salt, answered by one
 * token. Undefined if it has no single prompt, or needs what only `from` keeps.
 */
export function writeWarmUp(
  { path, headers, body }: EngineRequest,
  {
    api,
    from,
    to,
    id,
  }: { readonly api: PromptApi; readonly from: Pick<Replica, 'apiKey'>; readonly to: Replica; readonly id: RequestId },
): WarmUp | undefined {
  const members = Buffer.isBuffer(body) ? tryObject(body.toString()) : undefined
  if (!members || Array.isArray(members.prompt) || members.previous_response_id != null) return undefined
  if (members.background === true || members.session_params != null) return undefined
  const salt = typeof members.cache_salt === 'string' ? members.cache_salt : ''
  const tags = to.adapter.tagRequest(id, salt)
  const credentials = withEngineCredentials(credentialsOf(headers), {
    // the key of another engine is not for this one
    keepsClientKey: from.apiKey !== undefined,
    apiKey: to.apiKey,
  })
  const { kv_transfer_params: transfer, ...prompt } = promptOnly(members)
  // whatever else its client wants transferred is for one engine, once
  const own = isObject(transfer) && transfer.reprise !== undefined ? { reprise: transfer.reprise } : undefined
  const params = own && { kv_transfer_params: own }
  const json = JSON.stringify({ ...prompt, ...params, ...tags.members, ...oneToken[api] })
  return { path, json, headers: [...credentials, ...Object.entries(tags.headers).flat()] }
}
