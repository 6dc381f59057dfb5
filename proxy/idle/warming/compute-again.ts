import { randomUUID } from 'node:crypto'
import { askEngine, type EngineQuestion } from '#engine-adapters/ask-engine.ts'
import { isObject, tryObject } from '#engine-adapters/json-object.ts'
import { type PromptApi, promptOnly } from '#engine-adapters/prompt-api.ts'
import { UsageReader } from '#engine-adapters/read-usage.ts'
import type { RequestId } from '#index/context-block.ts'
import { credentialsOf, withEngineCredentials } from '../../access/engine-credentials.ts'
import { RequestFollower } from '../../replicas/events/request-follower.ts'
import { AnswerName } from '../../replicas/mirror/answer-name.ts'
import type { Replica } from '../../replicas/replica.ts'
import { withoutClients } from '../../replicas/without-clients.ts'
import type { RunPrompt } from './hot-prompts.ts'

/** A prompt that an engine has run. */
type Run = Pick<RunPrompt, 'api' | 'from' | 'prompt' | 'request'>

/** How long it may take, and whether it goes on beside clients' requests. */
interface Limits {
  readonly milliseconds: number
  readonly closing: AbortSignal
  readonly isBesideClients?: boolean
}

/** The shortest answer, in each API. */
const oneToken: Readonly<Record<PromptApi, object>> = {
  chat_completions: { max_tokens: 1 },
  completions: { max_tokens: 1 },
  messages: { max_tokens: 1 },
  responses: { max_output_tokens: 1, store: false },
  generate: { sampling_params: { max_new_tokens: 1 } },
}

/** Statuses by which a request is put off rather than refused. */
const later = new Set([408, 409, 425, 429])

/**
 * Lets a replica compute a prompt that was run elsewhere, or there before, and its mirror know. Returns the tokens that
 * were not cached, as predicted if the engine does not count them. `refused`: it never will; `unwritable`: it cannot be
 * asked; `interrupted`: by a client or the end of its time; undefined: it did not.
 */
export async function computeAgain(
  run: Run,
  to: Replica,
  { milliseconds, closing, isBesideClients = false }: Limits,
): Promise<number | 'refused' | 'unwritable' | 'interrupted' | undefined> {
  const id = randomUUID() as RequestId
  const question = writeQuestion(run, to, id)
  if (!question) return 'unwritable'
  const over = AbortSignal.any([closing, AbortSignal.timeout(Math.max(0, Math.ceil(milliseconds)))])
  const send = (signal: AbortSignal): Promise<number | 'refused' | undefined> => ask(run, to, { id, question }, signal)
  const computed = isBesideClients ? await send(over) : await withoutClients(to, over, send)
  return over.aborted ? 'interrupted' : computed
}

/**
 * Writes a request once more: the same prompt under the same salt, answered by one token. Undefined if it has no single
 * prompt, or needs what only the engine keeps that ran it.
 */
function writeQuestion({ api, from, request }: Run, to: Replica, id: RequestId): Required<EngineQuestion> | undefined {
  const { path, headers, body } = request
  const members = Buffer.isBuffer(body) ? tryObject(body.toString()) : undefined
  if (!members || Array.isArray(members.prompt) || members.previous_response_id != null) return undefined
  if (members.background === true || members.session_params != null) return undefined
  const salt = typeof members.cache_salt === 'string' ? members.cache_salt : ''
  const tags = to.adapter.tagRequest(id, salt)
  // the key of another engine is not for this one
  const credentials = withEngineCredentials(credentialsOf(headers), { keepsClientKey: from.apiKey !== undefined }, to)
  const { kv_transfer_params: transfer, ...prompt } = promptOnly(members)
  // whatever else its client wants transferred is for one engine, once
  const own = isObject(transfer) && transfer.reprise !== undefined ? { reprise: transfer.reprise } : undefined
  const params = own && { kv_transfer_params: own }
  const json = JSON.stringify({ ...prompt, ...params, ...tags.members, ...oneToken[api] })
  return { path, json, headers: [...credentials, ...Object.entries(tags.headers).flat()] }
}

async function ask(
  { api, prompt }: Run,
  replica: Replica,
  { id, question }: { readonly id: RequestId; readonly question: Required<EngineQuestion> },
  signal: AbortSignal,
): Promise<number | 'refused' | undefined> {
  const { cache, adapter, engine } = replica
  const ids = adapter.promptIds(id, { count: 1, isList: false })
  const body = Buffer.from(question.json)
  const follower = new RequestFollower(replica, api, ids, body.length)
  const name = new AnswerName(adapter, api, ids[0], (ours, theirs) => cache.named(ours, theirs))
  const held = cache.mirror.predictCachedTokens(prompt)
  cache.sent(ids[0]!, prompt)
  try {
    follower.sent({ path: question.path, method: 'POST', headers: [...question.headers], body }, [prompt])
    const answer = await askEngine(engine.aside, question, signal)
    if (answer?.status !== 200) {
      cache.failed(ids)
      return answer && answer.status < 500 && !later.has(answer.status) ? 'refused' : undefined
    }
    const [said, reader] = [Buffer.from(answer.text), new UsageReader('application/json')]
    name.onChunk(said)
    reader.push(said)
    const usage = reader.read()
    if (!usage) return 0
    cache.used(ids[0]!, usage.promptTokens, usage.cachedTokens)
    return Math.max(0, usage.promptTokens - (usage.cachedTokens ?? held))
  } finally {
    cache.ended(ids)
  }
}
