import type { IncomingMessage } from 'node:http'
import { type PromptApi, promptApis } from '#engine-adapters/prompt-api.ts'
import type { RequestId } from '#index/context-block.ts'
import { ProxyError } from '../errors.ts'
import { applySplices, elementSpans, memberSpans, removeMembers, type Span, valueStart } from '../json/json-spans.ts'
import { parseJson } from '../json/parse-json.ts'
import { ReplicaCache } from '../mirror/replica-cache.ts'
import { isObject, isParts } from '../prompt/body/prompt-builder.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import { differingRemedy, explainRefusal } from '../prompt/judge/explain-refusal.ts'
import { findUnknownForm } from '../prompt/judge/find-unknown-form.ts'
import { type PromptBody, writeBody } from '../prompt/prompt-body.ts'
import type { Replica } from '../replicas/replica.ts'
import { decide } from '../reuse/decide.ts'
import type { Decision } from '../reuse/decision.ts'
import { MemoryConversationStore } from '../store/memory-conversation-store.ts'
import { wordsOf } from '../telemetry/hot-blocks/block-words.ts'
import type { Call, RoutedCall } from './call/call.ts'
import { toCall } from './call/read-call.ts'
import { withoutByteOrderMark } from './call/read-received.ts'
import type { Pipeline } from './pipeline.ts'
import { recallAhead } from './recall-ahead.ts'
import { routeCall, toDecisionInput } from './route-call.ts'

// what the control plane reads is its caller's own
const noShare = { grow: () => {}, release: () => {} }
// of a long log of JSON the first few tell enough
const mostRefusals = 20
/** Of a conversation that is explained behind its beginning, more are not needed. */
const mostEarlier = 100
const earlierBytes = 16 * 1024 * 1024

/**
 * What would be sent for a request and why, as JSON; nothing is sent or remembered. The body stands in it as it would
 * be sent, but without salt and id: not parsed, so that its numbers are not rounded. `api` says how it is read; without it,
 * its shape does.
 */
export async function explain(
  pipeline: Pipeline,
  incoming: IncomingMessage,
  body: Buffer,
  api: string | undefined,
): Promise<string> {
  const call = await toExplainedCall(pipeline, incoming, body, api)
  const layout = await recallAhead(pipeline, call)
  const routing = { ...pipeline, replicas: pipeline.replicas.preview }
  const { replica, decision } = routeCall(routing, call, undefined, layout())
  return describe(pipeline, call, { replica, decision }, body)
}

/**
 * The same for a body `{"earlier": […], "request": …}`: what would be sent for the request, had an engine with nothing in
 * its cache been sent the earlier ones by the same caller and nothing else.
 */
export async function explainBehind(
  pipeline: Pipeline,
  incoming: IncomingMessage,
  body: Buffer,
  api: string | undefined,
): Promise<string> {
  const { earlier, request } = readBehind(body)
  const [replica] = pipeline.replicas.all
  if (!replica) throw new ProxyError('draining', 'There is no replica: try again later.')
  const cache = new ReplicaCache(pipeline.createMirror())
  const store = new MemoryConversationStore(earlierBytes)
  const { now } = pipeline
  const decideOn = (call: Call): Decision =>
    decide(toDecisionInput(call), { candidates: [cache], store, select: () => 0, now })
  for (const [i, own] of earlier.entries()) {
    const { sent, turns } = decideOn(await toExplainedCall(pipeline, incoming, own, api))
    for (const [turn, order] of turns) store.remember(turn, order)
    for (const [j, prompt] of sent.entries()) cache.sent(`earlier-${i}-${j}` as RequestId, prompt)
  }
  const call = await toExplainedCall(pipeline, incoming, request, api)
  return describe(pipeline, call, { replica, decision: decideOn(call) }, request)
}

/** Throws `invalid_body` where it is none of both. */
function readBehind(body: Buffer): { earlier: Buffer[]; request: Buffer } {
  const json = withoutByteOrderMark(body).toString()
  const parsed = parseJson(json)
  if (!isObject(parsed) || !isParts(parsed.earlier) || !isObject(parsed.request)) {
    throw new ProxyError('invalid_body', 'Send {"earlier": [bodies that were sent before], "request": a body}.')
  }
  if (parsed.earlier.length > mostEarlier) {
    throw new ProxyError('invalid_body', `No more than ${mostEarlier} earlier requests can be given.`)
  }
  // cut out, not parsed: numbers are not rounded
  const members = memberSpans(json, valueStart(json))
  const bytesOf = ({ start, end }: Span): Buffer => Buffer.from(json.slice(start, end))
  return {
    earlier: elementSpans(json, members.get('earlier')!.start).map(bytesOf),
    request: bytesOf(members.get('request')!),
  }
}

/** What would be a call, were the body received now; throws `body_too_large` for what is not rewritten. */
async function toExplainedCall(
  pipeline: Pipeline,
  incoming: IncomingMessage,
  body: Buffer,
  api: string | undefined,
): Promise<Call> {
  const settings = pipeline.settings()
  const mode = settings.mode === 'off' ? 'off' : 'on'
  const call = await toCall(
    { ...pipeline, settings: () => ({ ...settings, mode }) },
    readApi(api, body, settings.workLimits.bytes),
    incoming,
    { body, share: noShare },
    // the control plane has let its caller in already
    pipeline.tenancy().suppose(incoming),
  )
  if (!call.received.whole) return call
  const message = `What would be sent for a body of more than ${settings.workLimits.bytes} bytes is what was received: explain a smaller one.`
  throw new ProxyError('body_too_large', message)
}

function describe(
  pipeline: Pipeline,
  call: Call,
  { replica, decision }: Pick<RoutedCall, 'replica' | 'decision'>,
  body: Buffer,
): string {
  const { contexts } = decision
  // blocks are numbered through the whole request, list after list
  let blocks = 0
  const starts = contexts.map(({ order }) => {
    blocks += order.length
    return blocks - order.length
  })
  const explanation = {
    blocks: contexts.flatMap(({ found }) => found.blocks),
    // of the body that was sent here, which is told below
    words: contexts.flatMap(({ found }) => wordsOf(found, decision.worlds?.texts ?? [])),
    search_path: contexts.find(({ searchPath }) => searchPath.length > 0)?.searchPath ?? [],
    order: contexts.flatMap(({ order }, i) => order.map((place) => starts[i]! + place)),
    annotations: contexts.flatMap(({ annotation, pointers }) =>
      [...pointers.map(({ text }) => text), annotation ?? []].flat(),
    ),
    citations: Object.fromEntries(
      decision.citations.flatMap(({ prefix, labels }) =>
        [...labels].map(([sent, own]) => [`${prefix}${sent}`, `${prefix}${own}`]),
      ),
    ),
    lists: contexts.map(({ found }, i) => ({
      first_block: starts[i]!,
      blocks: found.slots.length,
      found_by: found.certain?.by ?? (found.isResult ? 'tool_result' : 'prompt'),
      ...describeRanks(found),
    })),
    known_chunks: { ...call.certain.counts, known: pipeline.chunks.size },
    predicted_cached_tokens: decision.predictedCachedTokens,
    predicted_reused_tokens: decision.predictedReusedTokens ?? null,
    replica: replica.id,
    tenant: call.caller.tenant,
    skipped: decision.skipped ?? null,
    left_alone: explainRefusals(call.received.prompt, decision),
  }
  const { prompt } = call.received
  const sent = prompt ? withoutTags(writeBody(prompt, decision.splices ?? []).toString(), replica) : asJson(body)
  return `${JSON.stringify(explanation).slice(0, -1)},"body":${sent}}`
}

/** A body without the members that the engine gets others for. */
function withoutTags(json: string, { adapter }: Replica): string {
  const tags = new Set(Object.keys(adapter.tagRequest('explained' as RequestId, '').members))
  return applySplices(json, removeMembers(json, valueStart(json), tags))
}

/** Fields that only rank the blocks of a list: whether equal documents differ by them, and what would help. */
function describeRanks({ cut, slots, isSpokenOf }: PromptContext): object {
  if (cut) return { volatile: cut.areTold ? 'move' : 'drop' }
  return !isSpokenOf && slots.some(({ ranks }) => ranks)
    ? { volatile: 'keep', differs_by: 'score', remedy: differingRemedy }
    : {}
}

/** What looks like a list of blocks and is not touched: why, where, and what would help. */
function explainRefusals(prompt: PromptBody | undefined, { contexts, refusals }: Decision): object[] {
  const texts = prompt?.set?.texts ?? []
  const unknown =
    contexts.length > 0 || refusals.length > 0 ? undefined : findUnknownForm(texts.map(({ text }) => text))
  const leftAlone = unknown ? [{ refused: 'unknown_form' as const, ...unknown }] : refusals
  return leftAlone.slice(0, mostRefusals).map(({ refused, text, start, end }) => ({
    at: texts[text]!.path.join('.'),
    ...explainRefusal(texts[text]!.text, refused, { start, end }),
  }))
}

/** What is sent as received: as it is, or as a text where it is no JSON. */
function asJson(body: Buffer): string {
  try {
    parseJson(body.toString())
    return body.toString()
  } catch {
    return JSON.stringify(body.toString())
  }
}

function readApi(named: string | undefined, body: Buffer, limit: number): PromptApi {
  // what is too large to be rewritten is too large to be explained, whatever its API
  if (named === undefined && body.length > limit) return 'chat_completions'
  if (named === undefined) return guessApi(parseJson(withoutByteOrderMark(body).toString()))
  const api = promptApis.find((name) => name === named)
  if (api) return api
  throw new ProxyError('invalid_body', `'${named}' is no API that is rewritten: known are ${promptApis.join(', ')}.`)
}

/** Which API a body is written for. */
function guessApi(body: unknown): PromptApi {
  if (!isObject(body)) return 'chat_completions'
  if ('input' in body) return 'responses'
  if ('prompt' in body) return 'completions'
  if ('text' in body || 'input_ids' in body) return 'generate'
  const parts = (isParts(body.messages) ? body.messages : []).flatMap(({ content }) =>
    isParts(content) ? content : [],
  )
  const isAnthropic = 'system' in body || parts.some(({ type }) => type === 'tool_result' || type === 'tool_use')
  return isAnthropic ? 'messages' : 'chat_completions'
}
