import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { nothingHeld } from '#engine-adapters/kv-events/reported-cache.ts'
import type { RequestId } from '#index/context-block.ts'
import type { Call, RoutedCall } from '../call/call.ts'
import type { Charge } from '../call/charge-call.ts'
import type { Exchange } from '../call/exchange.ts'
import { sharerOf } from '../call/sharer-of.ts'
import { toldUser } from '../call/told-user.ts'
import { Trip } from '../call/trip.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import { GainFollower } from '../gain/gain-follower.ts'
import { inPieces } from '../http/bounds/whole-body.ts'
import { forward, UnreachableError } from '../http/forward.ts'
import { KeepAlive } from '../http/keep-alive.ts'
import { isPlaced, membersOf } from '../http/receive/read-received.ts'
import { RefusedError } from '../http/refusal-filter.ts'
import { RequestFollower } from '../replicas/events/request-follower.ts'
import { AnswerName } from '../replicas/mirror/answer-name.ts'
import type { Replica } from '../replicas/replica.ts'
import { askedText } from '../reuse/asked-text.ts'
import type { Decision } from '../reuse/decision.ts'
import { unknownMessages } from '../templates/learner/learnt-templates.ts'
import { noteLists } from '../templates/note-lists.ts'
import { AnswerObserver } from './answer-observer.ts'
import type { ChosenBorders } from './borders/find-borders.ts'
import type { Pipeline } from './pipeline.ts'
import { isPromptList } from './prompt-list.ts'
import { contentsOf } from './route-call.ts'
import { isKeptAlive, toEngineRequest } from './to-engine-request.ts'

/**
 * How long to hold back an answer's head: about one unnoticeable prefill, after which it is known what the engine has
 * lost.
 */
const headMilliseconds = 250

/**
 * Sends a request to its replica when its turn comes, and passes the answer back. Rejects while it can still be
 * retried.
 */
export async function sendCall(
  pipeline: Pipeline,
  exchange: Exchange,
  call: Call,
  routed: RoutedCall,
  request: RequestId,
  charge: Charge,
): Promise<ForwardOutcome> {
  const { replica, decision } = routed
  const { admission, breaker, adapter, cache } = replica
  const [ids, readsCache] = [idsOfPrompts(call, routed, request), adapter.readsCache(membersOf(call.content.received))]
  const trip = new Trip((error) => noteFault(pipeline, request, error))
  let committed: Committed | undefined
  // before the request itself counts as demand
  const chosen = pipeline.borders.choose(replica, decision)
  try {
    trip.follow({ ended: () => cache.ended(ids) })
    committed = commit(pipeline, call, routed, ids, { request, readsCache })
    const follower = new RequestFollower(replica, call.api, ids, call.content.body.length)
    const gain = new GainFollower(pipeline.gain, pipeline.telemetry.metrics, routed, call, { ids, follower })
    exchange.telemetry.compare(gain)
    const turn = turnOf(call, routed, request)
    trip.follow(pipeline.recorder?.follow(routed, call))
    trip.follow(pipeline.prover.follow(call, routed))
    trip.follow(pipeline.warmer.follow(call, routed))
    trip.follow(pipeline.pins.follow(call, routed))
    trip.follow(nameOf(call, replica, ids))
    trip.follow(chosen && { used: (usage) => pipeline.borders.found(replica, chosen.held, usage.cachedTokens) })
    trip.follow(gain)
    let comments: KeepAlive | undefined
    trip.follow({
      onHead: (status) => {
        breaker.answered(status)
        admission.prefilled(turn)
        call.content.release()
      },
      ended: () => {
        comments?.stop()
        admission.leave(turn)
      },
    })
    const observer = new AnswerObserver(pipeline, exchange, call, routed, {
      request,
      promptIds: ids,
      charge,
      trip,
      predict: () => (readsCache ? follower.predict(decision.predictedCachedTokens) : nothingHeld),
    })
    // from here on the client gets nothing, neither from the queue nor from the engine
    comments = keepAlive(exchange, call, observer)
    // before waiting, so that requests routed meanwhile do not become probes too
    breaker.begin()
    await admission.admit(turn, exchange.clientLeft)
    observer.admitted()
    const options = {
      api: call.api,
      rewriterFor: observer.rewriterFor,
      keepAlive: comments,
      refusals: refusalsOf(call, decision),
      headMilliseconds: follower.isAsked ? headMilliseconds : 0,
    }
    const plain = toEngineRequest(exchange, call, routed, request)
    const marked = chosen ? await withBorders(plain, chosen, pipeline, exchange, call, routed, request) : plain
    const sent = follower.sent(marked, decision.sent)
    trip.sent(sent)
    const { outgoing, clientLeft } = exchange
    const outcome = await forward(replica.engine, inPieces(sent), outgoing, clientLeft, observer, options)
    observer.finish(outcome)
    // it was refused as received, too: what it was rewritten to is as good as before
    if (call.isRefused && !trip.wasRun) committed.takeBack()
    return outcome
  } catch (error) {
    noteFailure(replica, error)
    // what an engine has answered it holds, whatever went wrong here
    if (!trip.hasHead || error instanceof RefusedError) {
      cache.failed(ids)
      // a request that no engine can have seen may be reordered for the replica that will run it
      if (!(error instanceof UnreachableError && error.wasSent)) committed?.takeBack()
    }
    throw error
  } finally {
    trip.ended()
  }
}

/** Returns the request with the places at which the engine is to keep checkpoints, if it has any. */
async function withBorders(
  plain: EngineRequest,
  { borders }: ChosenBorders,
  pipeline: Pipeline,
  ...of: [Exchange, Call, RoutedCall, RequestId]
): Promise<EngineRequest> {
  const [, { api }, { replica, decision }] = of
  if (borders.length === 0) return plain
  const positions = await pipeline.borders.find(borders, replica, decision, { api, request: plain })
  return positions.length > 0 ? toEngineRequest(...of, positions) : plain
}

function noteFault({ telemetry, log }: Pipeline, request: RequestId, error: unknown): void {
  telemetry.metrics.failOpen.inc({ reason: 'internal_error' })
  log.error({ request, error }, 'a request is no longer followed in full: internal error')
}

function noteFailure({ breaker }: Replica, error: unknown): void {
  if (error instanceof UnreachableError) breaker.unreachable(error.reason)
  if (error instanceof RefusedError) breaker.answered(error.status)
}

/** How the engine's refusals are recognised, if the request can be sent in another form. */
function refusalsOf({ api, isStream, content }: Call, { isRewritten }: Decision): 'by_status' | 'by_event' | undefined {
  if (!isRewritten && !isPlaced(content.received)) return undefined
  return api === 'generate' && isStream ? 'by_event' : 'by_status'
}

/** What hears under which name the engine answers. */
function nameOf({ api }: Call, { adapter, cache }: Replica, ids: readonly RequestId[]): AnswerName {
  return new AnswerName(adapter, api, ids[0], (ours, theirs) => cache.named(ours, theirs))
}

/** Builds the request's entry for admission. */
function turnOf({ caller, priority, deadline }: Call, routed: RoutedCall, request: RequestId) {
  const { decision } = routed
  const searchPath = decision.options.schedule === false ? [] : groupPath(routed, request)
  return { tenant: caller.tenant, tokens: tokensToPrefill(decision), priority, deadline, searchPath }
}

function tokensToPrefill({ promptTokens, predictedCachedTokens, predictedReusedTokens = 0 }: Decision): number {
  return Math.max(0, promptTokens - predictedCachedTokens - predictedReusedTokens)
}

/** Returns the ids that an engine's reports may use for the prompts of a request. */
export function idsOfPrompts(
  { api, content }: Call,
  { replica, decision }: Pick<RoutedCall, 'replica' | 'decision'>,
  request: RequestId,
): RequestId[] {
  const members = membersOf(content.received)
  const prompts = { count: decision.sent.length, isList: isPromptList(api, members), rid: members.rid }
  return replica.adapter.promptIds(request, prompts)
}

/** What a request left when it was sent. */
interface Committed {
  /** Forgets how its turns were sent. */
  takeBack(): void
}

/** Marks the request as sent, so that requests decided while it waits can follow its order. */
function commit(
  pipeline: Pipeline,
  call: Call,
  { replica, decision }: RoutedCall,
  ids: readonly RequestId[],
  { request, readsCache }: { readonly request: RequestId; readonly readsCache: boolean },
): Committed {
  const { store, processed, chunks } = pipeline
  if (decision.fault !== undefined) {
    pipeline.log.error({ request, error: decision.fault }, 'request forwarded as received because of a fault of ours')
  }
  const before = [...decision.turns.keys()].map((turn) => store.recall(turn))
  for (const [turn, sent] of decision.turns) store.remember(turn, sent)
  for (const [i, id] of ids.entries()) {
    replica.cache.sent(id, decision.sent[i]!, readsCache, decision.exactLengths[i])
  }
  processed.note(replica.id, sharerOf(call), contentsOf(decision).blocks, toldUser(call, replica))
  learnTemplates(pipeline, call, decision, request)
  const known = decision.contexts.map(({ found }) => found.certain?.chunks ?? [])
  if (known.some(({ length }) => length > 0)) chunks.noteLists(known, askedText(decision))
  return {
    takeBack: () => {
      for (const [i, [turn, sent]] of [...decision.turns].entries()) {
        store.forget(turn, sent)
        const known = before[i]
        if (known && store.recall(turn) === undefined) store.remember(turn, known)
      }
    },
  }
}

/**
 * Learns from a request's lists, and from texts in which nothing was found, once it is on its way. A fault of ours is
 * counted and logged, and has no other effect.
 */
function learnTemplates(
  { templates, learnt, telemetry, log }: Pipeline,
  { caller: { tenant }, api, content, settings }: Call,
  { contexts, worlds }: Decision,
  request: RequestId,
): void {
  // by then they may have been released
  const [texts, set] = [worlds?.texts, content.received.prompt?.set]
  setImmediate(() => {
    try {
      noteLists(templates, tenant, contexts, texts)
      if (texts && set && settings.learn) {
        const found = contexts.map((context) => context.found)
        learnt.offer({ tenant, api }, unknownMessages(set, texts, found))
      }
    } catch (error) {
      telemetry.metrics.failOpen.inc({ reason: 'templates' })
      log.error({ request, error }, 'nothing was learned of templates because of a fault of ours')
    }
  })
}

/** Returns the search path by which the scheduler groups; it begins with the tree and the branch below its root. */
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
  return new KeepAlive(outgoing, 1_000 * settings.keepAliveSeconds, () => observer.settleHead())
}
