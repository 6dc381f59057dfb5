import { createHash } from 'node:crypto'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import { isCount, tryJson, tryObject } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'

/** A request as it was sent to the engine. */
export interface SentBody {
  readonly api: PromptApi
  /** path and query */
  readonly path: string
  readonly body: Buffer
}

/** The possible questions about a request, and how to file their answer. */
export interface TokenQuestions {
  /** the most reliable first; the others are for engines that do not serve it */
  readonly ways: readonly { readonly path: string; readonly body: string }[]
  /** equal for requests with equal prompts */
  readonly key: string
  readonly salt: string | undefined
  /** what separates the request's cache from others: its salt, and its model, since an engine may serve several */
  readonly scope: string
}

/** Returns the ways to ask about a request; undefined if the engine has no answer for it. */
export function tokenQuestions(
  adapter: Pick<EngineAdapter, 'tokenQuestions'>,
  { api, path, body }: SentBody,
): TokenQuestions | undefined {
  const members = tryObject(body.toString())
  if (!members) return undefined
  const ways = adapter.tokenQuestions(api, path, members).map((way) => ({ ...way, body: JSON.stringify(way.body) }))
  const [surest] = ways
  if (!surest) return undefined
  const salt = typeof members.cache_salt === 'string' ? members.cache_salt : undefined
  const key = createHash('sha256').update(surest.path).update('\0').update(surest.body).digest('base64url')
  return { ways, key, salt, scope: JSON.stringify([salt, members.model]) }
}

/** Returns the tokens of each prompt in an answer; undefined if there are none, or a prompt is more than its tokens. */
export function readTokens(text: string): Uint32Array[] | undefined {
  const answer = tryJson(text)
  const tokens = (answer as { tokens?: unknown } | null | undefined)?.tokens
  if (isTokens(tokens)) return [Uint32Array.from(tokens)]
  if (Array.isArray(tokens)) {
    return tokens.length > 0 && tokens.every(isTokens) ? tokens.map((prompt) => Uint32Array.from(prompt)) : undefined
  }
  const parts = Array.isArray(answer) ? (answer as unknown[]) : [answer]
  const prompts: Uint32Array[] = []
  for (const part of parts) {
    const { token_ids, features } = (part ?? {}) as { token_ids?: unknown; features?: unknown }
    // for images the engine hashes more than tokens
    if (!isTokens(token_ids) || (features !== undefined && features !== null)) return undefined
    prompts.push(Uint32Array.from(token_ids))
  }
  return prompts
}

/** Block hashes are computed from 32-bit tokens. */
function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((token) => isCount(token) && token < 2 ** 32)
}
