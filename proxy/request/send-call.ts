import type { RequestId } from '#index/context-block.ts'
import { inPieces } from '../bounds/whole-body.ts'
import { RequestFollower } from '../engine-reports/request-follower.ts'
import { GainFollower } from '../gain/gain-follower.ts'
import { type ForwardOutcome, forward, UnreachableError } from '../http/forward.ts'
import { KeepAlive } from '../http/keep-alive.ts'
import { AnswerName } from '../mirror/answer-name.ts'
import type { Decision } from '../reuse/decision.ts'
import { isPromptList } from '../reuse/prompt-list.ts'
import { AnswerObserver } from './answer-observer.ts'
import type { Call, RoutedCall } from './call/call.ts'
import type { Charge } from './call/charge-call.ts'
import { letBodyGo } from './call/read-call.ts'
import { membersOf } from './call/read-received.ts'
import type { Exchange, Pipeline } from './pipeline.ts'
import { contentsOf } from './route-call.ts'
import { isKeptAlive, toEngineRequest } from './to-engine-request.ts'

/** As long as a prefill takes that nobody waits for: what an engine has lost by then is known. */
const headMilliseconds = 250

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
  const ids = idsOfPrompts(call, routed, request)
  const readsCache = replica.adapter.readsCache(membersOf(call.received))
  const committed = commit(pipeline, call, routed, ids, { request, readsCache })
  const follower = new RequestFollower(replica, call.api, ids, call.body.length)
  const gain = new GainFollower(pipeline.gain, routed, call)
  exchange.telemetry.compare(gain)
  const recording = pipeline.recorder?.follow(routed, call)
  let wasRun = false
  const answer = { adapter: replica.adapter, api: call.api, ids }
  const name = new AnswerName(answer, (ours, theirs) => replica.cache.named(ours, theirs))
  const turn = turnOf(call, routed, request)
  const observer = new AnswerObserver(pipeline, exchange, call, routed, {
    request,
    promptIds: ids,
    charge,
    onHead: (status) => {
      breaker.answered(status)
      admission.prefilled(turn)
      letBodyGo(call)
    },
    onRun: () => {
      wasRun = true
    },
    onUsage: (usage) => recording?.used(usage),
    onChunk: (chunk) => name.push(chunk),
    predict: () => (readsCache ? follower.predict(decision.predictedCachedTokens) : 0),
  })
  // from here on its client hears nothing, be it of the queue or of the engine
  const comments = keepAlive(exchange, call, observer)
  // before it waits: requests that are routed meanwhile are no probes too
  breaker.begin()
  try {
    await admission.admit(turn, exchange.clientLeft)
    try {
      observer.admitted()
      const options = {
        api: call.api,
        rewriterFor: observer.rewriterFor,
        keepAlive: comments,
        headMilliseconds: follower.isAsked ? headMilliseconds : 0,
      }
      const sent = follower.sent(toEngineRequest(pipeline, exchange, call, routed, request), decision.sent)
      gain.sent(sent, call, ids, follower.asked)
      const outcome = await forward(
        replica.engine,
        inPieces(sent),
        exchange.outgoing,
        exchange.clientLeft,
        observer,
        options,
      )
      observer.finish(outcome)
      return outcome
    } finally {
      gain.ended()
      recording?.ended(wasRun)
      admission.leave(turn)
    }
  } catch (error) {
    if (error instanceof UnreachableError) breaker.unreachable(error.reason)
    replica.cache.failed(ids)
    // what no engine can have seen may be ordered anew, for the replica that will run it
    if (!(error instanceof UnreachableError && error.wasSent)) committed.takeBack()
    throw error
  } finally {
    replica.cache.ended(ids)
    comments?.stop()
  }
}

/** What it waits for its turn as. */
function turnOf({ caller, priority, deadline }: Call, routed: RoutedCall, request: RequestId) {
  const { decision } = routed
  const searchPath = decision.options.schedule === false ? [] : groupPath(routed, request)
  return { tenant: caller.tenant, tokens: tokensToPrefill(decision), priority, deadline, searchPath }
}

function tokensToPrefill({ promptTokens, predictedCachedTokens, predictedReusedTokens = 0 }: Decision): number {
  return Math.max(0, promptTokens - predictedCachedTokens - predictedReusedTokens)
}

/** What an engine's reports may call the prompts of a request. */
export function idsOfPrompts(
  { api, received }: Call,
  { replica, decision }: Pick<RoutedCall, 'replica' | 'decision'>,
  request: RequestId,
): RequestId[] {
  const members = membersOf(received)
  const prompts = { count: decision.sent.length, isList: isPromptList(api, members), rid: members.rid }
  return replica.adapter.promptIds(request, prompts)
}

/** From here on the request counts as sent: requests that are decided while it waits can follow its order. */
function commit(
  { store, processed, chunks, log }: Pipeline,
  call: Call,
  { replica, decision }: RoutedCall,
  ids: readonly RequestId[],
  { request, readsCache }: { readonly request: RequestId; readonly readsCache: boolean },
): { takeBack(): void } {
  if (decision.fault !== undefined) {
    log.error({ request, error: decision.fault }, 'request forwarded as received because of a fault of ours')
  }
  const fresh = [...decision.turns].filter(([turn]) => store.recall(turn) === undefined)
  for (const [turn, sent] of decision.turns) store.remember(turn, sent)
  for (const [i, id] of ids.entries()) {
    replica.cache.sent(id, decision.sent[i]!, readsCache, decision.exactLengths[i])
  }
  processed.note(replica.id, call.caller.tenant, contentsOf(decision).blocks)
  chunks.noteLists(decision.contexts.map(({ found }) => found.certain?.chunks ?? []))
  return {
    takeBack: () => {
      for (const [turn, sent] of fresh) store.forget(turn, sent)
    },
  }
}

/** The search path by which the scheduler groups: which tree, and which branch below its root, come first. */
function groupPath({ replica, decision }: RoutedCall, request: RequestId): (string | number)[] {
  const context = decision.contexts.find(({ found }) => !found.isResult)
  if (!context) return []
  const [branch, ...path] = replica.mirror.searchPath(request, context.scope)
  return branch === undefined ? [] : [`${context.scope}/${branch}`, ...path]
}

function keepAlive(
  { outgoing }: Exchange,
  { settings, isStream }: Call,
  observer: AnswerObserver,
): KeepAlive | undefined {
  if (!isKeptAlive({ settings, isStream })) return undefined
  return new KeepAlive(outgoing, settings.keepAliveMilliseconds, () => observer.describe())
}
