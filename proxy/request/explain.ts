import type { IncomingMessage } from 'node:http'
import { isObject, tryJson } from '#engine-adapters/json-object.ts'
import { type PromptApi, promptApis } from '#engine-adapters/prompt-api.ts'
import type { BlockId, RequestId } from '#index/context-block.ts'
import { ProcessedBlocks } from '#index/processed-blocks.ts'
import { tenantName } from '../access/tenancy.ts'
import { type Call, type RoutedCall, sharerOf, toDecisionInput } from '../call/call.ts'
import { toCall } from '../call/read-call.ts'
import { ProxyError } from '../common/errors.ts'
import {
  applySplices,
  elementSpans,
  memberSpans,
  removeMembers,
  type Span,
  valueStart,
} from '../common/json/json-spans.ts'
import { parseJson } from '../common/json/json-value.ts'
import { withoutByteOrderMark } from '../http/receive/read-received.ts'
import { type PromptBody, writeBody } from '../prompt/body/prompt-body.ts'
import { isParts } from '../prompt/body/prompt-builder.ts'
import { guessApi } from '../prompt/formats/read-prompt-body.ts'
import { findDifference } from '../prompt/judge/find-difference.ts'
import { differingRemedy, differsBeforeRemedy, explainRefusal } from '../prompt/judge/reasons.ts'
import { MemoryConversationStore } from '../prompt/turns/memory-conversation-store.ts'
import { ReplicaCache } from '../replicas/mirror/replica-cache.ts'
import type { Replica } from '../replicas/replica.ts'
import { decide } from '../reuse/decide.ts'
import type { Decision } from '../reuse/decision.ts'
import { wordsOf } from '../telemetry/hot-blocks/block-words.ts'
import { templateRemedies } from '../templates/declared-templates.ts'
import { chooseReplicas } from './models.ts'
import type { Pipeline } from './pipeline.ts'
import { recallAhead } from './recall-ahead.ts'
import { routeCall } from './route-call.ts'

// bodies of the control plane do not count towards the memory for request bodies
const noShare = { grow: () => {}, release: () => {} }
// a long log of JSON can yield very many; the first few say enough
const mostRefusals = 20
/** No explanation in the middle of a conversation needs more earlier requests than this. */
const mostEarlier = 100
const earlierBytes = 16 * 1024 * 1024

/** What is to be explained. */
interface Asked {
  readonly incoming: IncomingMessage
  readonly body: Buffer
  /** how the body is read; undefined: its shape decides */
  readonly api: string | undefined
}

/**
 * Returns as JSON what would be sent for a request, and why; nothing is sent or remembered. The JSON contains the body
 * as it would be sent, but without salt and id. The body is not parsed for this, so that its numbers are not rounded.
 */
export async function explain(pipeline: Pipeline, asked: Asked): Promise<string> {
  const call = await toExplainedCall(pipeline, asked)
  if (!pipeline.replicas.serving(call.model)) await chooseReplicas(pipeline, call.model)
  const layout = await recallAhead(pipeline, call)
  const routing = { ...pipeline, replicas: pipeline.replicas.preview(call.model) }
  const { replica, decision } = routeCall(routing, call, undefined, layout())
  return describe(pipeline, call, { replica, cache: replica.cache, decision }, asked.body)
}

/**
 * Does the same for a body `{"earlier": […], "request": …}`: explains what would be sent for the request to an engine
 * that began with an empty cache and then got only the earlier requests, from the same caller.
 */
export async function explainBehind(pipeline: Pipeline, asked: Asked): Promise<string> {
  const { earlier, request } = readBehind(asked.body)
  const [replica] = pipeline.replicas.all
  if (!replica) throw new ProxyError('draining', 'There is no replica: try again later.')
  const cache = new ReplicaCache(pipeline.createMirror())
  const store = new MemoryConversationStore(earlierBytes)
  const computed = new ProcessedBlocks(Number.POSITIVE_INFINITY)
  const before: PromptBody[] = []
  const { now } = pipeline
  const decideOn = (call: Call): Decision => {
    const hasProcessed = (block: BlockId): boolean => computed.has(replica.id, sharerOf(call), block)
    const candidates = [{ mirror: cache.mirror, hasProcessed }]
    return decide(toDecisionInput(call), { candidates, store, select: () => 0, now })
  }
  for (const [i, own] of earlier.entries()) {
    const call = await toExplainedCall(pipeline, { ...asked, body: own })
    const { sent, turns, contexts } = decideOn(call)
    if (call.content.received.prompt) before.push(call.content.received.prompt)
    for (const { found } of contexts) computed.note(replica.id, sharerOf(call), found.contents)
    for (const [turn, order] of turns) store.remember(turn, order)
    for (const [j, prompt] of sent.entries()) cache.sent(`earlier-${i}-${j}` as RequestId, prompt)
  }
  const call = await toExplainedCall(pipeline, { ...asked, body: request })
  return describe(pipeline, call, { replica, cache, decision: decideOn(call), before }, request)
}

/** Splits such a body. Throws `invalid_body` if it has another shape, or too many earlier requests. */
function readBehind(body: Buffer): { earlier: Buffer[]; request: Buffer } {
  const json = withoutByteOrderMark(body).toString()
  const parsed = parseJson(json)
  if (!isObject(parsed) || !isParts(parsed.earlier) || !isObject(parsed.request)) {
    throw new ProxyError('invalid_body', 'Send {"earlier": [bodies that were sent before], "request": a body}.')
  }
  if (parsed.earlier.length > mostEarlier) {
    throw new ProxyError('invalid_body', `No more than ${mostEarlier} earlier requests can be given.`)
  }
  // cut out rather than parsed, so that numbers are not rounded
  const members = memberSpans(json, valueStart(json))
  const bytesOf = ({ start, end }: Span): Buffer => Buffer.from(json.slice(start, end))
  return {
    earlier: elementSpans(json, members.get('earlier')!.start).map(bytesOf),
    request: bytesOf(members.get('request')!),
  }
}

/** Builds the call as if the body were received now. Throws `body_too_large` for a body too large to be rewritten. */
async function toExplainedCall(pipeline: Pipeline, { incoming, body, api }: Asked): Promise<Call> {
  const settings = pipeline.settings()
  const mode = settings.mode === 'shadow' ? 'on' : settings.mode
  const call = await toCall(
    { ...pipeline, settings: () => ({ ...settings, mode }) },
    readApi(api, body, settings.workLimits.bytes),
    incoming,
    { body, share: noShare },
    // the control plane has already authorised its caller
    pipeline.tenancy().suppose(incoming),
  )
  // an explanation teaches nothing
  if (!call.content.received.whole) return { ...call, known: { ...call.known, learn: () => {}, noteWords: () => {} } }
  const message = `What would be sent for a body of more than ${settings.workLimits.bytes} bytes is what was received: explain a smaller one.`
  throw new ProxyError('body_too_large', message)
}

interface Explained {
  readonly cache: ReplicaCache
  /** what was sent earlier; undefined: no text of that is known */
  readonly before?: readonly PromptBody[]
}

function describe(
  pipeline: Pipeline,
  call: Call,
  { replica, cache, decision, before }: Pick<RoutedCall, 'replica' | 'decision'> & Explained,
  body: Buffer,
): string {
  const { contexts } = decision
  const { prompt } = call.content.received
  // blocks are numbered consecutively across all lists of the request
  let blocks = 0
  const starts = contexts.map(({ order }) => {
    blocks += order.length
    return blocks - order.length
  })
  const explanation = {
    blocks: contexts.flatMap(({ found }) => found.blocks),
    // words of the body that was sent here, which the answer includes anyway
    words: contexts.flatMap(({ found }) => wordsOf(found, decision.worlds?.texts ?? [])),
    search_path: contexts.find(({ searchPath }) => searchPath.length > 0)?.searchPath ?? [],
    order: contexts.flatMap(({ order }, i) => order.map((place) => starts[i]! + place)),
    annotations: contexts.flatMap(({ annotation, pointers }) =>
      [...pointers.map(({ text }) => text), annotation ?? []].flat(),
    ),
    citations: Object.fromEntries(
      decision.citations
        .flat()
        .flatMap(({ prefix, labels }) => [...labels].map(([sent, own]) => [`${prefix}${sent}`, `${prefix}${own}`])),
    ),
    lists: contexts.map(({ found }, i) => ({
      first_block: starts[i]!,
      blocks: found.slots.length,
      found_by: found.certain?.by ?? (found.isResult ? 'tool_result' : 'prompt'),
      // the name of one in the configuration, or the id of one that was learnt
      template: found.certain?.template,
      ...(found.template && {
        template: found.template.id,
        template_state: pipeline.templates.stateOf(found.template.id),
        may_move: found.template.mayMove,
      }),
      // fields that only rank its blocks make equal documents differ
      ...(!found.isSpokenOf &&
        found.slots.some(({ ranks }) => ranks) && { differs_by: 'score', remedy: differingRemedy }),
    })),
    known_chunks: { ...call.content.certain.counts, known: pipeline.chunks.size },
    predicted_cached_tokens: decision.predictedCachedTokens,
    predicted_reused_tokens: decision.predictedReusedTokens ?? null,
    borders: pipeline.borders.estimate({ checkpoints: replica.checkpoints, mirror: cache.mirror }, decision) ?? null,
    replica: replica.id,
    tenant: tenantName(call.caller.tenant),
    skipped: decision.skipped ?? null,
    left_alone: [
      ...explainTemplates(prompt, call),
      ...explainRefusals(prompt, decision),
      ...explainDifference(prompt, decision, before),
    ],
  }
  return `${JSON.stringify(explanation).slice(0, -1)},"body":${describeBody(body, prompt, decision, replica)}}`
}

/** Returns the body as it would be sent, without what our own tags (salt and id) would replace. */
function describeBody(body: Buffer, prompt: PromptBody | undefined, decision: Decision, { adapter }: Replica): string {
  const json = (prompt ? writeBody(prompt, decision.splices ?? []) : body).toString()
  // as a JSON string if it is not JSON
  if (!prompt) return tryJson(json) === undefined ? JSON.stringify(json) : json
  const tags = new Set(Object.keys(adapter.tagRequest('explained' as RequestId, '').members))
  return applySplices(json, removeMembers(json, valueStart(json), tags))
}

/**
 * Names the first message that the engine has not computed: what differs is in it, and in front of the documents. Names
 * none without text, such as a call of a tool.
 */
function explainDifference(
  body: PromptBody | undefined,
  { skipped: reason, differing }: Decision,
  before: readonly PromptBody[] = [],
): object[] {
  if (differing === undefined || !body?.set) return []
  const { prompt, place, message, areResults } = differing
  const remedy = differsBeforeRemedy(areResults)
  const { texts } = body.set
  if (!message || message.texts.length === 0) return []
  // engines read tools in front of all messages
  const tools = JSON.stringify(body.members.tools)
  const alike = before.filter(({ members }) => JSON.stringify(members.tools) === tools)
  if (place === 0 && before.length > 0 && alike.length === 0) return [{ at: 'tools', reason, remedy }]
  const earlier = alike.flatMap(({ set }) => {
    const same = set?.prompts[prompt]?.messages[place]
    return same ? [same.texts.map((text) => set!.texts[text]!.text)] : []
  })
  const { place: at, ...difference } = findDifference(
    message.texts.map((text) => texts[text]!.text),
    earlier,
  )
  const path = texts[message.texts[at]!]!.path.join('.')
  return [{ at: path, role: message.role, ...difference, reason, remedy }]
}

/** Describes what looks like a list of blocks but is not touched: why, where, and what would help. */
function explainRefusals(prompt: PromptBody | undefined, { refusals }: Decision): object[] {
  const texts = prompt?.set?.texts ?? []
  return refusals.slice(0, mostRefusals).map(({ refused, text, start, end }) => ({
    at: texts[text]!.path.join('.'),
    ...explainRefusal(texts[text]!.text, refused, { start, end }),
  }))
}

/** Describes the lists that templates of the configuration seem to have written: why they are left alone. */
function explainTemplates(prompt: PromptBody | undefined, { content }: Call): object[] {
  const texts = prompt?.set?.texts ?? []
  return content.certain.templateCounts.refused.map(({ template, refused, text }) => ({
    at: texts[text]!.path.join('.'),
    template,
    reason: `template_${refused}`,
    remedy: templateRemedies[refused],
  }))
}

function readApi(named: string | undefined, body: Buffer, limit: number): PromptApi {
  // a body too large to rewrite is too large to explain, whatever its API
  if (named === undefined && body.length > limit) return 'chat_completions'
  if (named === undefined) return guessApi(parseJson(withoutByteOrderMark(body).toString()))
  const api = promptApis.find((name) => name === named)
  if (api) return api
  throw new ProxyError('invalid_body', `'${named}' is no API that is rewritten: known are ${promptApis.join(', ')}.`)
}
