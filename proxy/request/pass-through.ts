import { PassThrough } from 'node:stream'
import { matchesPath } from '#engine-adapters/inference-paths.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { withEngineCredentials } from '../access/engine-credentials.ts'
import type { Caller } from '../access/tenancy.ts'
import { chargeCall } from '../call/charge-call.ts'
import type { Exchange } from '../call/exchange.ts'
import { ProxyError } from '../errors.ts'
import { endBehindBody } from '../http/end-behind-body.ts'
import { forward, UnreachableError } from '../http/forward.ts'
import { forwardedFor, requestHeaders } from '../http/forwarded-headers.ts'
import { upgradeOf } from '../http/upgradable-request.ts'
import type { ForwardOutcome } from '../reasons.ts'
import type { Replica } from '../replicas/replica.ts'
import { learnFromRequest, type PassingRequest } from './learn-from-request.ts'
import type { Pipeline } from './pipeline.ts'
import { untilReached } from './until-reached.ts'

/**
 * Streams a request to the replica with the fewest requests, and its answer back. Does not wait for the body: bodies
 * that hold chunks are read while they pass.
 */
export async function passThrough(pipeline: Pipeline, exchange: Exchange): Promise<ForwardOutcome> {
  const caller = pipeline.tenancy().identify(exchange.incoming)
  exchange.telemetry.calledBy(caller)
  chargeCall(pipeline, caller, { promptTokens: 0 }, 0)
  const lesson = learnFromRequest(pipeline, exchange.incoming, caller.tenant)
  try {
    const first = choose(pipeline)
    checkPath(pipeline, exchange, caller, first.replica)
    return await untilReached(pipeline, exchange, {
      first,
      send: ({ replica }) => sendOn(pipeline, exchange, replica, lesson),
      choose: (excluding) => choose(pipeline, excluding),
    })
  } finally {
    lesson?.end()
  }
}

/** API keys are for inference only: an engine's other endpoints affect its other users. */
function checkPath({ settings }: Pipeline, { incoming }: Exchange, { key }: Caller, { adapter }: Replica): void {
  const [path = ''] = incoming.url!.split('?', 1)
  if (!key || adapter.isInference(path)) return
  if (settings().allowedPaths.some((allowed) => matchesPath(allowed, path))) return
  const message =
    'API keys are for inference, and not for this path of the engine: its operator allows it in keys.allow_engine_paths.'
  throw new ProxyError('forbidden', message)
}

function choose({ replicas }: Pipeline, excluding?: ReadonlySet<ReplicaId>): { replica: Replica } {
  const [replica] = [...replicas.candidates(excluding)].sort((a, b) => a.requests - b.requests)
  if (!replica) throw new ProxyError('draining', 'All replicas are draining: try again later.')
  return { replica }
}

async function sendOn(
  pipeline: Pipeline,
  exchange: Exchange,
  replica: Replica,
  lesson: PassingRequest | undefined,
): Promise<ForwardOutcome> {
  const { incoming, outgoing, clientLeft, telemetry } = exchange
  const upgrade = upgradeOf(incoming)
  const hasBody =
    upgrade === null &&
    (incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined)
  const rawHeaders = withEngineCredentials(incoming.rawHeaders, {
    keepsClientKey: pipeline.settings().keepsClientKey,
    apiKey: pipeline.credentials.get(replica.id)?.apiKey,
  })
  // a separate stream: it is destroyed if the engine breaks off, and must not close the client's connection with it
  const body = hasBody ? (lesson?.tee() ?? new PassThrough()) : null
  const request = {
    path: incoming.url!,
    method: incoming.method!,
    headers: requestHeaders(rawHeaders, { ...forwardedFor(incoming), ...telemetry.headers }),
    body,
    upgrade,
  }
  const observer = {
    // not sooner: if the request cannot be sent, its body is still whole for another replica
    onSent: () => body && incoming.pipe(body),
    onHead: (status: number) => replica.breaker.answered(status),
    settleHead: () => ({}),
    onChunk: () => {},
  }
  telemetry.admitted(replica.id, replica.adapter.kind)
  replica.breaker.begin()
  replica.passing += 1
  try {
    // an engine may answer, or refuse, before the whole body has arrived
    const options = { end: (rest: Buffer | undefined) => void endBehindBody(incoming, outgoing, rest) }
    return await forward(replica.engine, request, outgoing, clientLeft, observer, options)
  } catch (error) {
    if (error instanceof UnreachableError) replica.breaker.unreachable(error.reason)
    throw error
  } finally {
    replica.passing -= 1
  }
}
