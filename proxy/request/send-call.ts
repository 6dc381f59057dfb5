import type { EngineRequest } from '#engine-adapters/engine-client.ts'
import { nothingHeld } from '#engine-adapters/kv-events/reported-cache.ts'
import type { RequestId } from '#index/context-block.ts'
import { type Call, type Exchange, modelNameOf, type RoutedCall } from '../call/call.ts'
import { Trip, type TripFollower } from '../call/trip.ts'
import { RefusedError, UnreachableError } from '../common/errors.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import { GainFollower } from '../gain/gain-follower.ts'
import { inPieces } from '../http/bounds/whole-body.ts'
import { forward } from '../http/forward.ts'
import { KeepAlive } from '../http/keep-alive.ts'
import { RequestFollower } from '../replicas/events/request-follower.ts'
import { AnswerName } from '../replicas/mirror/answer-name.ts'
import { askedText, type Decision } from '../reuse/decision.ts'
import { unknownMessages } from '../templates/learner/learnt-templates.ts'
import { noteLists } from '../templates/note-lists.ts'
import { AnswerObserver, type Sending } from './answer-observer.ts'
import type { ChosenBorders } from './borders/border-positions.ts'
import type { Pipeline } from './pipeline.ts'
import { idsOfPrompts } from './request-ids.ts'
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
export async function sendCall(own: Omit<Sending, 'ids' | 'trip'>): Promise<ForwardOutcome> {
  const { pipeline, exchange, call, routed, request } = own
  const { replica, decision } = routed
  const { admission, breaker, cache } = replica
  const ids = idsOfPrompts(call, routed, request)
  const readsCache = replica.adapter.readsCache(call.content.members)
  const trip = new Trip((error) => {
    pipeline.telemetry.metrics.failOpen.inc({ reason: 'internal_error' })
    pipeline.log.error({ request, error }, 'a request is no longer followed in full: internal error')
  })
  const sending = { ...own, ids, trip }
  let takeBack = (): void => {}
  // before the request itself counts as demand
  const chosen = pipeline.borders.choose(replica, decision)
  try {
    trip.follow({ ended: () => cache.ended(ids) })
    takeBack = commit(sending, readsCache)
    const follower = followAll(sending, chosen)
    const observer = new AnswerObserver(sending, () =>
      readsCache ? follower.predict(decision.predictedCachedTokens) : nothingHeld,
    )
    const turn = turnOf(call, routed, request)
    // from here on the client gets nothing, neither from the queue nor from the engine
    const comments = keepAlive(exchange, call, observer)
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
    // before waiting, so that requests routed meanwhile do not become probes too
    breaker.begin()
    await admission.admit(turn, exchange.clientLeft)
    observer.admitted()
    const sent = follower.sent(await toMarkedRequest(sending, chosen), decision.sent)
    trip.tell('sent', sent)
    const outcome = await forward(replica.engine, inPieces(sent), {
      response: exchange.outgoing,
      clientLeft: exchange.clientLeft,
      observer,
      api: call.api,
      rewriterFor: observer.rewriterFor,
      keepAlive: comments,
      refusals: refusalsOf(call, decision),
      headMilliseconds: follower.isAsked ? headMilliseconds : 0,
    })
    observer.finish(outcome)
    // it was refused as received, too: what it was rewritten to is as good as before
    if (call.isRefused && !trip.wasRun) takeBack()
    return outcome
  } catch (error) {
    breaker.failed(error)
    // what an engine has answered it holds, whatever went wrong here
    if (!trip.hasHead || error instanceof RefusedError) {
      cache.failed(ids)
      // a request that no engine can have seen may be reordered for the replica that will run it
      if (!(error instanceof UnreachableError && error.wasSent)) takeBack()
    }
    throw error
  } finally {
    trip.tell('ended', trip.wasRun)
  }
}

/** Lets all follow the trip that learn from it. Returns what knows of the engine's own tokens. */
function followAll(
  { pipeline, exchange, call, routed, ids, trip }: Sending,
  chosen: ChosenBorders | undefined,
): RequestFollower {
  const { replica } = routed
  const { adapter, cache } = replica
  const follower = new RequestFollower(replica, call.api, ids, call.content.body.length)
  const gain = new GainFollower(pipeline.gain, pipeline.telemetry.metrics, routed, call, { ids, follower })
  exchange.telemetry.compare(gain)
  trip.follow(pipeline.recorder?.follow(routed, call))
  for (const part of [pipeline.prover, pipeline.warmer, pipeline.pins]) trip.follow(part.follow(call, routed))
  trip.follow(new AnswerName(adapter, call.api, ids[0], (ours, theirs) => cache.named(ours, theirs)))
  trip.follow(chosen && { used: (usage) => pipeline.borders.found(replica, chosen.held, usage.cachedTokens) })
  trip.follow(gain)
  return follower
}

/** Returns the request for the engine, with the places at which that is to keep checkpoints, if there are any. */
async function toMarkedRequest(
  { pipeline: { borders }, exchange, call, routed, request }: Sending,
  chosen: ChosenBorders | undefined,
): Promise<EngineRequest> {
  const plain = toEngineRequest(exchange, call, routed, request)
  if (!chosen || chosen.borders.length === 0) return plain
  const question = { api: call.api, request: plain }
  const positions = await borders.find(chosen.borders, routed.replica, routed.decision, question)
  return positions.length > 0 ? toEngineRequest(exchange, call, routed, request, positions) : plain
}

/** How the engine's refusals are recognised, if the request can be sent in another form. */
function refusalsOf({ api, isStream, content }: Call, { isRewritten }: Decision): 'by_status' | 'by_event' | undefined {
  if (!isRewritten && !content.received.tidied.includes('placement')) return undefined
  return api === 'generate' && isStream ? 'by_event' : 'by_status'
}

/** Builds the request's entry for admission. */
function turnOf({ caller, priority, deadline }: Call, routed: RoutedCall, request: RequestId) {
  const { promptTokens, predictedCachedTokens, predictedReusedTokens = 0, options } = routed.decision
  return {
    tenant: caller.tenant,
    tokens: Math.max(0, promptTokens - predictedCachedTokens - predictedReusedTokens),
    priority,
    deadline,
    searchPath: options.schedule === false ? [] : groupPath(routed, request),
  }
}

/**
 * Marks the request as sent, so that requests decided while it waits can follow its order. Returns what forgets how its
 * turns were sent.
 */
function commit({ pipeline, call, routed, request, ids, trip }: Sending, readsCache: boolean): () => void {
  const { replica, decision, sharer, user } = routed
  const { store, processed, chunks } = pipeline
  if (decision.fault !== undefined) {
    pipeline.log.error({ request, error: decision.fault }, 'request forwarded as received because of a fault of ours')
  }
  const before = [...decision.turns.keys()].map((turn) => store.recall(turn))
  for (const [turn, sent] of decision.turns) store.remember(turn, sent)
  for (const [i, id] of ids.entries()) {
    replica.cache.sent(id, decision.sent[i]!, readsCache, decision.exactLengths[i])
  }
  processed.note(replica.id, sharer, contentsOf(decision).blocks, user?.owner)
  trip.follow(templateLearner(pipeline, call, decision, request))
  const known = decision.contexts.map(({ found }) => found.certain?.chunks ?? [])
  if (known.some(({ length }) => length > 0)) chunks.noteLists(known, askedText(decision))
  return () => {
    for (const [i, [turn, sent]] of [...decision.turns].entries()) {
      store.forget(turn, sent)
      const known = before[i]
      if (known && store.recall(turn) === undefined) store.remember(turn, known)
    }
  }
}

/**
 * Returns what learns from a request's lists, and from texts in which nothing was found, once an engine has accepted it:
 * one that is refused may be sent again, to another engine or as received. A fault of ours is counted and logged, and
 * has no other effect.
 */
function templateLearner(
  { templates, learnt, telemetry, log }: Pipeline,
  { caller: { tenant }, api, content, settings }: Call,
  { contexts, isRewritten, worlds }: Decision,
  request: RequestId,
): TripFollower {
  const model = modelNameOf(content)
  // by then they may have been released, and none of them is kept while the answer runs
  let held = [worlds?.texts, content.received.prompt?.set] as const
  const learn = ([texts, set]: typeof held): void => {
    try {
      // where nothing is rewritten, their orders are only what would be sent
      noteLists(templates, tenant, isRewritten ? contexts : contexts.map((own) => ({ ...own, order: [] })), texts)
      if (texts && set && settings.learn) {
        const found = contexts.map((context) => context.found)
        learnt.offer({ tenant, api, model }, unknownMessages(set, texts, found))
      }
    } catch (error) {
      telemetry.metrics.failOpen.inc({ reason: 'templates' })
      log.error({ request, error }, 'nothing was learned of templates because of a fault of ours')
    }
  }
  return {
    onHead: (status) => {
      if (status < 400) setImmediate(learn, held)
      held = [undefined, undefined]
    },
  }
}

/** Returns the search path by which the scheduler groups; it begins with the tree and the branch below its root. */
function groupPath({ replica, decision }: RoutedCall, request: RequestId): (string | number)[] {
  const context = decision.contexts.find(({ found }) => !found.isResult)
  if (!context) return []
  const [branch, ...path] = replica.mirror.searchPath(request, context.scope)
  return branch === undefined ? [] : [`${context.scope}/${branch}`, ...path]
}

function keepAlive({ outgoing }: Exchange, call: Call, observer: AnswerObserver): KeepAlive | undefined {
  if (!isKeptAlive(call)) return undefined
  return new KeepAlive(outgoing, 1_000 * call.settings.keepAliveSeconds, () => observer.settleHead())
}
