import { createHash } from 'node:crypto'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'

/** A request as it went to the engine. */
export interface SentBody {
  readonly api: PromptApi
  /** path and query */
  readonly path: string
  readonly body: Buffer
}

/** What to ask an engine so that it tells the tokens of a request's prompts. */
export interface SentQuestion {
  readonly path: string
  readonly body: string
}

/** What is asked about a request, and how its answer is to be taken. */
export interface TokenQuestions {
  /** the surest first; the others where the engine has not been told to answer it */
  readonly ways: readonly SentQuestion[]
  /** equal for requests with equal prompts */
  readonly key: string
  readonly salt: string | undefined
  /** what the request's cache is kept apart by: its salt, and its model, since one engine may serve several */
  readonly scope: string
}

type Json = Record<string, unknown>

/** The ways to ask about a request; undefined where the engine has no answer to it. */
export function tokenQuestions(
  adapter: Pick<EngineAdapter, 'tokenQuestions'>,
  { api, path, body }: SentBody,
): TokenQuestions | undefined {
  const members = readObject(body)
  if (!members) return undefined
  const ways = adapter.tokenQuestions(api, path, members).map((way) => ({ ...way, body: JSON.stringify(way.body) }))
  const [surest] = ways
  if (!surest) return undefined
  const salt = typeof members.cache_salt === 'string' ? members.cache_salt : undefined
  const key = createHash('sha256').update(surest.path).update('\0').update(surest.body).digest('base64url')
  return { ways, key, salt, scope: JSON.stringify([salt, members.model]) }
}

/** The tokens of each prompt in an engine's answer; undefined when it has none, or the prompt is more than tokens. */
export function readTokens(text: string): Uint32Array[] | undefined {
  const answer = readJson(text)
  const tokens = (answer as { tokens?: unknown } | null | undefined)?.tokens
  if (isTokens(tokens)) return [Uint32Array.from(tokens)]
  if (Array.isArray(tokens)) {
    return tokens.length > 0 && tokens.every(isTokens) ? tokens.map((prompt) => Uint32Array.from(prompt)) : undefined
  }
  const parts = Array.isArray(answer) ? (answer as unknown[]) : [answer]
  const prompts: Uint32Array[] = []
  for (const part of parts) {
    const { token_ids, features } = (part ?? {}) as { token_ids?: unknown; features?: unknown }
    // of images the engine hashes more than their tokens
    if (!isTokens(token_ids) || (features !== undefined && features !== null)) return undefined
    prompts.push(Uint32Array.from(token_ids))
  }
  return prompts
}

function readObject(body: Buffer): Json | undefined {
  const value = readJson(body.toString())
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // what is no JSON has no prompt
    return undefined
  }
}

/** Block hashes take tokens of 32 bits. */
function isToken(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every(isToken)
}
