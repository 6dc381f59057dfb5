import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EngineAdapter } from '#engine-adapters/engine-adapter.ts'
import type { EngineClient, EngineRequest } from '#engine-adapters/engine-client.ts'
import type { CacheMirror } from '#index/cache-mirror.ts'
import type { RequestId } from '#index/context-block.ts'
import type { ConversationStore } from '#index/conversation-store.ts'
import type { Admission } from './admission.ts'
import { AnswerObserver } from './answer-observer.ts'
import { type Decision, decide, type Mode } from './decide.ts'
import { type ForwardOutcome, forward, requestHeaders } from './forward.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { setMembers } from './prompt/chat.ts'
import { readBody } from './read-body.ts'
import type { RequestIds } from './request-ids.ts'
import { readOptions, readPriority } from './request-options.ts'
import { cacheSaltOf, tenantOf } from './tenant.ts'

/** All that a request needs on its way but for the engine. */
export interface Reuse {
  readonly mode: Mode
  readonly bodyLimit: number
  readonly replica: string
  readonly mirror: CacheMirror
  readonly store: ConversationStore
  readonly admission: Admission
  readonly requestIds: RequestIds
  readonly metrics: Metrics
  readonly log: Log
  /** milliseconds, monotonic */
  readonly now: () => number
}

/** All that a request needs on its way. */
export interface Pipeline extends Reuse {
  readonly engine: EngineClient
  readonly adapter: EngineAdapter
}

/** The two ends of a client's request; `clientLeft` aborts when the client goes before its answer is whole. */
export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly clientLeft: AbortSignal
}

/** The life of a chat completion request, in the order it happens. */
export async function runPipeline(pipeline: Pipeline, exchange: Exchange): Promise<ForwardOutcome> {
  const { incoming, outgoing, clientLeft } = exchange
  const received = pipeline.now()
  const tenant = tenantOf(incoming.headers)
  const options = readOptions(header(incoming, 'x-reprise-options'))
  const priority = readPriority(header(incoming, 'x-reprise-priority'))
  const body = await readBody(incoming, pipeline.bodyLimit)
  const decision = decide(
    {
      body,
      isEncoded: (header(incoming, 'content-encoding') ?? 'identity') !== 'identity',
      mode: pipeline.mode,
      tenant,
      conversation: header(incoming, 'x-reprise-conversation'),
      options,
    },
    pipeline,
  )
  const decided = pipeline.now()
  const request = pipeline.requestIds.take(wantedId(pipeline, incoming, decision))
  try {
    commit(pipeline, request, decision)
    const searchPath = options.schedule === false ? [] : groupPath(pipeline, request, decision)
    await pipeline.admission.admit({ searchPath, priority }, clientLeft)
    try {
      const admitted = pipeline.now()
      observeStages(pipeline.metrics, decision, admitted - decided)
      const clientId = header(incoming, 'x-request-id') ?? request
      const observer = new AnswerObserver(pipeline, request, clientId, decision, { received, decided, admitted })
      const message = tagRequest(pipeline, exchange, request, tenant, body, decision)
      const outcome = await forward(pipeline.engine, message, outgoing, clientLeft, observer)
      observer.finish(outcome)
      return outcome
    } finally {
      pipeline.admission.leave()
    }
  } catch (error) {
    pipeline.mirror.apply({ type: 'failed', request })
    throw error
  } finally {
    pipeline.requestIds.release(request)
  }
}

/** From here on the request counts as sent: requests that are decided while it waits can follow its order. */
function commit({ mirror, store, metrics, log }: Reuse, request: RequestId, decision: Decision): void {
  if (decision.fault !== undefined) {
    metrics.failOpen.inc({ reason: decision.skipped ?? 'unknown' })
    log.error({ request, error: decision.fault }, 'request forwarded as received because of a fault of ours')
  }
  if (!decision.sent) return
  for (const [turn, sent] of decision.turns) store.remember(turn, sent)
  mirror.apply({ type: 'sent', request, prompt: decision.sent })
  metrics.blocks.inc({ action: 'moved' }, decision.moved)
  metrics.blocks.inc({ action: 'kept' }, decision.blocks - decision.moved)
  metrics.predictedCachedTokens.inc(decision.predictedCachedTokens)
}

function observeStages({ overheadSeconds, queueSeconds }: Metrics, { timing }: Decision, queued: number): void {
  overheadSeconds.observe({ stage: 'parse' }, timing.parse / 1000)
  overheadSeconds.observe({ stage: 'index' }, timing.index / 1000)
  queueSeconds.observe(queued / 1000)
}

/** The search path by which the scheduler groups: which tree, and which branch below its root, come first. */
function groupPath({ mirror }: Reuse, request: RequestId, { contexts: [context] }: Decision): (string | number)[] {
  if (!context) return []
  const [branch, ...path] = mirror.searchPath(request, context.scope)
  return branch === undefined ? [] : [`${context.scope}/${branch}`, ...path]
}

function wantedId({ adapter }: Pipeline, incoming: IncomingMessage, { received }: Decision): string | undefined {
  if (adapter.kind === 'sglang' && typeof received?.tags.rid === 'string') return received.tags.rid
  return header(incoming, 'x-request-id')
}

function tagRequest(
  { adapter }: Pipeline,
  { incoming }: Exchange,
  request: RequestId,
  tenant: string,
  bytes: Buffer,
  { received, body }: Decision,
): EngineRequest {
  const tags = adapter.tagRequest(request, cacheSaltOf(tenant, received?.tags.cacheSalt))
  let sent = body === undefined ? bytes : Buffer.from(body)
  if (received && Object.keys(tags.members).length > 0)
    sent = Buffer.from(setMembers(body ?? received.body, tags.members))
  return {
    path: incoming.url!,
    method: 'POST',
    headers: requestHeaders(incoming.rawHeaders, { ...tags.headers, 'content-length': String(sent.length) }),
    body: sent,
  }
}

function header(incoming: IncomingMessage, name: string): string | undefined {
  const value = incoming.headers[name]
  return Array.isArray(value) ? value[0] : value
}
