import { setTimeout as pause } from 'node:timers/promises'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import type { Call, Exchange, RoutedCall } from '../call/call.ts'
import { chargeCall } from '../call/charge-call.ts'
import { readCall, toFallBack, toRefused } from '../call/read-call.ts'
import { RefusedError, UnreachableError } from '../common/errors.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import type { Replica } from '../replicas/replica.ts'
import type { ReplicaChoice } from '../replicas/replica-set.ts'
import { decideRetry, retryPauses } from '../replicas/retry-policy.ts'
import { logPrompt } from '../telemetry/access-log.ts'
import { chooseReplicas } from './models.ts'
import type { Pipeline } from './pipeline.ts'
import { recallAhead } from './recall-ahead.ts'
import { idsOfPrompts } from './request-ids.ts'
import { routeCall } from './route-call.ts'
import { sendCall } from './send-call.ts'

/** The life of a request with a prompt, in the order it happens. */
export async function runPipeline(pipeline: Pipeline, api: PromptApi, exchange: Exchange): Promise<ForwardOutcome> {
  let call: Call | undefined = await readCall(pipeline, api, exchange)
  const { content } = call
  try {
    for (;;) {
      try {
        return await runCall(pipeline, call, exchange)
      } catch (error) {
        // nothing has been written to an engine
        call = error instanceof UnreachableError && !error.wasSent ? await toFallBack(pipeline, call) : undefined
        if (!call) throw error
        pipeline.telemetry.metrics.retries.inc({ reason: 'other' })
      }
    }
  } finally {
    content.release()
  }
}

async function runCall(pipeline: Pipeline, call: Call, exchange: Exchange): Promise<ForwardOutcome> {
  const replicas = pipeline.replicas.serving(call.model) ?? (await chooseReplicas(pipeline, call.model))
  const routing = replicas === pipeline.replicas ? pipeline : { ...pipeline, replicas }
  let layout: Awaited<ReturnType<typeof recallAhead>> | undefined = await recallAhead(pipeline, call)
  // nothing waits from here until the request is committed, so what the decision is based on stays true
  const routed = routeCall(routing, call, undefined, layout())
  // do not keep the texts of a prompt while its answer runs
  layout = undefined
  const charge = chargeCall(pipeline, call.caller, routed.decision, call.content.body.length)
  const request = pipeline.requestIds.take(wantedId(call, routed, exchange), (id) => idsOfPrompts(call, routed, id))
  noteReceived(pipeline, call, request)
  noteFound(pipeline, call, routed)
  const ended = pipeline.chunks.prompted(call.caller.tenant)
  const sendAs = (own: Call, first: RoutedCall): Promise<ForwardOutcome> =>
    untilReached(routing, exchange, {
      first,
      send: (chosen) => sendCall({ pipeline, exchange, call: own, routed: chosen, request, charge }),
      // the order is made for the replica that will run it
      choose: (excluding) => routeCall(routing, own, excluding),
    })
  try {
    exchange.telemetry.decided(
      { id: request, model: call.model, knownChunks: call.content.certain.counts.matched },
      routed.decision,
    )
    try {
      return await sendAs(call, routed)
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      pipeline.log.warn({ request, status: error.status }, 'the engine refused a rewritten prompt: sent as received')
      const asReceived = await toRefused(pipeline, call)
      const laidOut = await recallAhead(pipeline, asReceived)
      const again = routeCall(routing, asReceived, undefined, laidOut())
      exchange.telemetry.decidedAgain(again.decision)
      return await sendAs(asReceived, again)
    }
  } catch (error) {
    charge.settle('not_run')
    // our own error answer carries the id that the log uses
    if (!exchange.outgoing.headersSent) exchange.outgoing.setHeader('x-request-id', request)
    throw error
  } finally {
    ended()
    pipeline.requestIds.release(request)
  }
}

/** Logs the request as received, if configured, and any internal error while it was tidied up. */
function noteReceived({ telemetry, log }: Pipeline, { settings, content }: Call, request: RequestId): void {
  if (settings.logs.prompts) logPrompt(log, request, content.body)
  const { fault } = content.received
  if (fault === undefined) return
  telemetry.metrics.failOpen.inc({ reason: 'hygiene' })
  log.error({ request, error: fault }, 'request not tidied up because of a fault of ours')
}

/** Records what was found in the request, and which known chunks and templates. */
function noteFound({ telemetry }: Pipeline, { api, settings, content }: Call, { decision }: RoutedCall): void {
  const { metrics, recent } = telemetry
  const { matched, lists, refused } = content.certain.counts
  const { templateCounts } = content.certain
  const { skipped, refusals, contexts, differing } = decision
  const differs = contexts.some(({ found }) => found.slots.some(({ ranks }) => ranks !== undefined))
  const { set } = content.received.prompt ?? {}
  if (set && settings.keepsWords) telemetry.words.note(contexts, decision.worlds?.texts ?? [])
  if (set) {
    const templates = templateCounts.refused
    recent.note({ api, set, skipped, refusals, chunks: { matched, refused }, templates, differs, differing })
  }
  if (templateCounts.lists > 0) metrics.templateLists.inc({ outcome: 'found' }, templateCounts.lists)
  for (const { refused: outcome } of templateCounts.refused) metrics.templateLists.inc({ outcome })
  if (matched === 0) return
  metrics.chunksMatched.inc(matched)
  metrics.chunkLists.inc({ outcome: 'found' }, lists)
  for (const [outcome, count] of Object.entries(refused)) metrics.chunkLists.inc({ outcome }, count)
}

/** The id that the client wants the request to have. */
function wantedId({ content }: Call, { replica }: RoutedCall, { incoming }: Exchange): string | undefined {
  const id = incoming.headers['x-request-id']
  return replica.adapter.idIn({ rid: content.members.rid }) ?? (Array.isArray(id) ? id[0] : id)
}

/** How and where a request is sent. */
interface Sending<T> {
  readonly first: T
  /** Sends the request. Rejects with an UnreachableError if no engine has begun to answer. */
  send(chosen: T): Promise<ForwardOutcome>
  /** Chooses again, without the given replicas. */
  choose(excluding: ReadonlySet<ReplicaId> | undefined): T
}

/** Sends a request, and retries as long as no engine can have started on it. */
export async function untilReached<T extends { readonly replica: Replica }>(
  { replicas, telemetry }: Pick<Pipeline, 'telemetry'> & { readonly replicas: Pick<ReplicaChoice, 'candidates'> },
  { clientLeft }: Pick<Exchange, 'clientLeft'>,
  { first, send, choose }: Sending<T>,
): Promise<ForwardOutcome> {
  let chosen = first
  const tried = new Set<ReplicaId>()
  for (let made = 1; ; made++) {
    try {
      return await send(chosen)
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
      const hasRepeated = tried.has(chosen.replica.id)
      tried.add(chosen.replica.id)
      // one that is not ready counts only if none at all is: a replica that fails its checks may hang
      const hasOther = replicas.candidates().some(({ id }) => !tried.has(id))
      const retry = decideRetry(error, { made, hasRepeated, hasOther })
      if (!retry) throw error
      telemetry.metrics.retries.inc({ reason: retry })
      await pause(retryPauses[retry], undefined, { signal: clientLeft.signal })
      chosen = choose(retry === 'other' ? tried : undefined)
    }
  }
}
