import { PassThrough, Readable } from 'node:stream'
import { matchesPath } from '#engine-adapters/inference-paths.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { withEngineCredentials } from '../access/engine-credentials.ts'
import type { Caller } from '../access/tenancy.ts'
import type { Exchange } from '../call/call.ts'
import { chargeCall } from '../call/charge-call.ts'
import { ProxyError } from '../common/errors.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import { forward } from '../http/forward.ts'
import { forwardedFor, requestHeaders } from '../http/forwarded-headers.ts'
import { endBehindBody } from '../http/read-body.ts'
import { upgradeOf } from '../http/upgradable-request.ts'
import type { Replica } from '../replicas/replica.ts'
import { learnFromRequest } from './learn-from-request.ts'
import { asksForModels, listModels, type PassingRoute, routePassing } from './models.ts'
import type { Pipeline } from './pipeline.ts'
import { noReplica } from './route-call.ts'
import { untilReached } from './run-pipeline.ts'

/**
 * Streams a request to the replica with the fewest requests, and its answer back. Does not wait for the body: bodies
 * that hold chunks are read while they pass.
 */
export async function passThrough(pipeline: Pipeline, exchange: Exchange): Promise<ForwardOutcome> {
  const caller = pipeline.tenancy().identify(exchange.incoming)
  exchange.telemetry.calledBy(caller)
  chargeCall(pipeline, caller, { promptTokens: 0, predictedCachedTokens: 0 }, 0)
  if (asksForModels(pipeline, exchange.incoming)) return listModels(pipeline, exchange)
  const route = await routePassing(pipeline, exchange, caller.tenant)
  const lesson = learnFromRequest(pipeline, exchange.incoming, caller.tenant)
  try {
    const first = choose(route)
    checkPath(pipeline, exchange, caller, first.replica)
    return await untilReached({ replicas: route.replicas, telemetry: pipeline.telemetry }, exchange, {
      first,
      send: ({ replica }) => sendOn(pipeline, exchange, replica, route, lesson),
      choose: (excluding) => choose(route, excluding),
    })
  } finally {
    lesson?.end()
    route.release?.()
  }
}

/** API keys are for inference only: an engine's other endpoints affect its other users. */
function checkPath({ settings }: Pipeline, { incoming }: Exchange, { key }: Caller, { adapter }: Replica): void {
  const [path = ''] = incoming.url!.split('?', 1)
  if (!key || adapter.isInference(path)) return
  if (settings().keys.allow_engine_paths?.some((allowed) => matchesPath(allowed, path))) return
  const message =
    'API keys are for inference, and not for this path of the engine: its operator allows it in keys.allow_engine_paths.'
  throw new ProxyError('forbidden', message)
}

function choose({ replicas }: PassingRoute, excluding?: ReadonlySet<ReplicaId>): { replica: Replica } {
  const [replica] = [...replicas.candidates(excluding)].sort((a, b) => a.requests - b.requests)
  if (!replica) throw new ProxyError('draining', noReplica)
  return { replica }
}

async function sendOn(
  pipeline: Pipeline,
  exchange: Exchange,
  replica: Replica,
  { body: whole }: PassingRoute,
  lesson: ReturnType<typeof learnFromRequest>,
): Promise<ForwardOutcome> {
  const { incoming, outgoing, clientLeft, telemetry } = exchange
  const upgrade = upgradeOf(incoming)
  const hasBody =
    upgrade === null &&
    (incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined)
  const rawHeaders = withEngineCredentials(incoming.rawHeaders, pipeline.settings(), replica)
  // a separate stream: it is destroyed if the engine breaks off, and must not close the client's connection with it
  const body = hasBody ? new PassThrough() : null
  const request = {
    path: incoming.url!,
    method: incoming.method!,
    headers: requestHeaders(rawHeaders, {
      ...(whole ? { 'content-length': String(whole.length) } : {}),
      ...forwardedFor(incoming),
      ...telemetry.headers,
    }),
    body,
    upgrade,
  }
  const observer = {
    // not sooner: if the request cannot be sent, its body is still whole for another replica
    onSent: () => {
      if (!body) return
      lesson?.follow(whole ? Readable.from([whole]) : incoming)
      if (whole) body.end(whole)
      else incoming.pipe(body)
    },
    onHead: (status: number) => replica.breaker.answered(status),
    settleHead: () => ({}),
    onChunk: () => {},
  }
  telemetry.admitted(replica.id, replica.adapter.kind)
  replica.breaker.begin()
  replica.passing += 1
  try {
    return await forward(replica.engine, request, {
      response: outgoing,
      clientLeft,
      observer,
      // an engine may answer, or refuse, before the whole body has arrived
      end: (rest) => void endBehindBody(incoming, outgoing, rest),
    })
  } catch (error) {
    replica.breaker.failed(error)
    throw error
  } finally {
    replica.passing -= 1
  }
}
