import { createHash } from 'node:crypto'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { PromptApi } from '../prompt/body/prompt.ts'

/** A request as it went to the engine. */
export interface SentBody {
  readonly api: PromptApi
  /** path and query */
  readonly path: string
  readonly body: Buffer
}

/** What to ask an engine so that it tells the tokens of a request's prompts. */
export interface TokenQuestion {
  readonly path: string
  readonly body: string
}

/** What is asked about a request, and how its answer is to be taken. */
export interface TokenQuestions {
  /** the surest first; the others where the engine has not been told to answer it */
  readonly ways: readonly TokenQuestion[]
  /** equal for requests with equal prompts */
  readonly key: string
  readonly salt: string | undefined
  /** what the request's cache is kept apart by: its salt, and its model, since one engine may serve several */
  readonly scope: string
}

type Json = Record<string, unknown>
type Question = { readonly path: string; readonly body: Json }

/** What decides nothing about a prompt's tokens, and what the question must not ask for. */
const besidePrompt = new Set(
  'rid request_id stream stream_options temperature top_p top_k min_p seed n best_of max_tokens max_completion_tokens max_output_tokens min_tokens stop logprobs top_logprobs prompt_logprobs presence_penalty frequency_penalty repetition_penalty user metadata store sampling_params cache_salt priority'.split(
    ' ',
  ),
)
/** What vLLM's `/tokenize` takes of a chat. */
const tokenizedMembers = new Set(
  'model messages add_generation_prompt continue_final_message add_special_tokens chat_template chat_template_kwargs tools'.split(
    ' ',
  ),
)
/** Where SGLang's other APIs have their text; its Responses and Messages APIs cannot be asked about. */
const sglangPrompt: Partial<Record<PromptApi, string>> = { completions: 'prompt', generate: 'text' }

/** The ways to ask about a request; undefined where the engine has no answer to it. */
export function tokenQuestions(kind: EngineKind, { api, path, body }: SentBody): TokenQuestions | undefined {
  const members = readObject(body)
  if (!members) return undefined
  const asked = kind === 'sglang' ? [askSglang(api, members)] : [renderVllm(api, path, members), askVllm(api, members)]
  const ways = asked.filter((way) => way !== undefined).map((way) => ({ ...way, body: JSON.stringify(way.body) }))
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

/** vLLM renders what it would run, for each API beside the API itself; 0.32 where it is started with `--enable-scale-out`. */
function renderVllm(api: PromptApi, path: string, members: Json): Question | undefined {
  if (api === 'generate') return undefined
  const { pathname } = new URL(path, 'http://engine')
  const body = promptOnly(members)
  // an answer's length is asked for by this API
  if (api === 'messages') body.max_tokens = members.max_tokens
  return { path: `${pathname.replace(/\/+$/, '')}/render`, body }
}

/** vLLM's tokenizer knows of a chat what it needs in all but these cases, where its template is given more. */
function askVllm(api: PromptApi, members: Json): Question | undefined {
  const { model } = members
  if (api === 'completions' && typeof members.prompt === 'string') {
    const { prompt, add_special_tokens } = members
    return { path: '/tokenize', body: { model, prompt, add_special_tokens } }
  }
  if (api !== 'chat_completions' || !isPlainChat(members)) return undefined
  const taken = Object.entries(members).filter(([name]) => tokenizedMembers.has(name))
  return { path: '/tokenize', body: Object.fromEntries(taken) }
}

function isPlainChat({ messages, documents, reasoning_effort, tool_choice }: Json): boolean {
  if ([documents, reasoning_effort, tool_choice].some((member) => member !== undefined && member !== null)) return false
  return (
    Array.isArray(messages) &&
    messages.every(({ content }: Json) => !Array.isArray(content) || content.every(({ type }: Json) => type === 'text'))
  )
}

function askSglang(api: PromptApi, members: Json): Question | undefined {
  const path = '/tokenize'
  if (api === 'chat_completions') return { path, body: promptOnly(members) }
  const name = sglangPrompt[api]
  const prompt = name === undefined ? undefined : members[name]
  const isText =
    typeof prompt === 'string' || (Array.isArray(prompt) && prompt.every((item) => typeof item === 'string'))
  return isText ? { path, body: { prompt } } : undefined
}

function promptOnly(members: Json): Json {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !besidePrompt.has(name)))
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
