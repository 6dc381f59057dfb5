import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import type { RequestId } from '#index/context-block.ts'
import { withEngineCredentials } from './access/engine-credentials.ts'
import { AnswerObserver } from './answer-observer.ts'
import type { Charge } from './charge-call.ts'
import { type ForwardOutcome, forward, UnreachableError } from './forward.ts'
import { requestHeaders } from './forwarded-headers.ts'
import { KeepAlive } from './keep-alive.ts'
import type { Exchange, Pipeline } from './pipeline.ts'
import { setMembers } from './prompt/prompt-body.ts'
import { promptIds } from './prompt-ids.ts'
import type { Call } from './read-call.ts'
import { contentsOf, type RoutedCall } from './route-call.ts'
import { cacheSaltOf } from './tenant.ts'

/** Sends a request to its replica, when its turn has come, and the answer back; rejects while it can be tried again. */
export async function sendCall(
  pipeline: Pipeline,
  exchange: Exchange,
  call: Call,
  routed: RoutedCall,
  request: RequestId,
  charge: Charge,
): Promise<ForwardOutcome> {
  const { replica, decision } = routed
  const { admission, breaker } = replica
  const decided = pipeline.now()
  commit(pipeline, call, routed, request)
  const turn = {
    tenant: call.caller.tenant,
    tokens: Math.max(0, decision.promptTokens - decision.predictedCachedTokens),
    priority: call.priority,
    deadline: call.deadline,
    searchPath: decision.options.schedule === false ? [] : groupPath(routed, request),
  }
  // before it waits: requests that are routed meanwhile are no probes too
  breaker.begin()
  try {
    await admission.admit(turn, exchange.clientLeft)
    try {
      const admitted = pipeline.now()
      exchange.telemetry.admitted(replica.id, replica.adapter.kind)
      const observer = new AnswerObserver(pipeline, exchange, call, routed, {
        request,
        charge,
        queued: admitted - decided,
        admitted,
        onHead: (status) => {
          breaker.answered(status)
          admission.prefilled(turn)
        },
      })
      const options = {
        api: call.api,
        rewriterFor: observer.rewriterFor,
        keepAlive: keepAlive(exchange, call, observer),
      }
      const message = toEngineRequest(pipeline, exchange, call, routed, request)
      const outcome = await forward(replica.engine, message, exchange.outgoing, exchange.clientLeft, observer, options)
      observer.finish(outcome)
      return outcome
    } finally {
      admission.leave(turn)
    }
  } catch (error) {
    if (error instanceof UnreachableError) breaker.unreachable()
    for (const id of promptIds(request, decision.sent.length)) replica.mirror.apply({ type: 'failed', request: id })
    throw error
  }
}

/** From here on the request counts as sent: requests that are decided while it waits can follow its order. */
function commit(
  { store, processed, log }: Pipeline,
  call: Call,
  { replica, decision }: RoutedCall,
  request: RequestId,
): void {
  if (decision.fault !== undefined) {
    log.error({ request, error: decision.fault }, 'request forwarded as received because of a fault of ours')
  }
  for (const [turn, sent] of decision.turns) store.remember(turn, sent)
  for (const [i, id] of promptIds(request, decision.sent.length).entries()) {
    replica.mirror.apply({ type: 'sent', request: id, prompt: decision.sent[i]! })
  }
  processed.note(replica.id, call.caller.tenant, contentsOf(decision).blocks)
}

/** The search path by which the scheduler groups: which tree, and which branch below its root, come first. */
function groupPath({ replica, decision }: RoutedCall, request: RequestId): (string | number)[] {
  const context = decision.contexts.find(({ found }) => !found.isResult)
  if (!context) return []
  const [branch, ...path] = replica.mirror.searchPath(request, context.scope)
  return branch === undefined ? [] : [`${context.scope}/${branch}`, ...path]
}

function isKeptAlive({ settings, isStream }: Pick<Call, 'settings' | 'isStream'>): boolean {
  return isStream && settings.keepAliveMilliseconds > 0
}

function keepAlive(
  { outgoing }: Exchange,
  { settings, isStream }: Call,
  observer: AnswerObserver,
): KeepAlive | undefined {
  if (!isKeptAlive({ settings, isStream })) return undefined
  return new KeepAlive(outgoing, settings.keepAliveMilliseconds, () => observer.describe())
}

function toEngineRequest(
  { credentials }: Pipeline,
  { incoming, telemetry }: Exchange,
  { caller, body, received, settings, isStream }: Call,
  { replica, decision }: RoutedCall,
  request: RequestId,
): EngineRequest {
  const salt = cacheSaltOf(caller.tenant, received.prompt?.members.cache_salt)
  const tags = replica.adapter.tagRequest(request, salt)
  const text = decision.body ?? received.prompt?.body
  const isTagged = text !== undefined && received.prompt !== undefined && Object.keys(tags.members).length > 0
  const bytes = isTagged
    ? Buffer.from(setMembers(text, tags.members))
    : decision.body
      ? Buffer.from(decision.body)
      : body
  const rawHeaders = withEngineCredentials(incoming.rawHeaders, {
    keepsClientKey: settings.keepsClientKey,
    apiKey: credentials.get(replica.id)?.apiKey,
  })
  return {
    path: incoming.url!,
    method: 'POST',
    headers: requestHeaders(rawHeaders, {
      ...tags.headers,
      ...telemetry.headers,
      // what is encoded cannot be rewritten, and no comments of ours can stand in it
      ...(decision.citations.length > 0 || isKeptAlive({ settings, isStream })
        ? { 'accept-encoding': 'identity' }
        : {}),
      'content-length': String(bytes.length),
    }),
    body: bytes,
  }
}
