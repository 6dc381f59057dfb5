import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type PromptApi, promptPaths } from '#engine-adapters/prompt-api.ts'
import type { Exchange } from '../call/call.ts'
import { ProxyError, toProxyError, UnreachableError } from '../common/errors.ts'
import type { Outcome } from '../common/reasons.ts'
import { brokenOff } from '../http/answer-unread.ts'
import { ClientLeft } from '../http/bounds/client-left.ts'
import { clientAddress, refuseLoop } from '../http/forwarded-headers.ts'
import { toErrorEvent } from '../http/keep-alive.ts'
import { endBehindBody, watchBody } from '../http/read-body.ts'
import { RequestTelemetry } from '../telemetry/request-telemetry.ts'
import { passThrough } from './pass-through.ts'
import type { Pipeline } from './pipeline.ts'
import { runPipeline } from './run-pipeline.ts'

/** How far the proxy's shutdown has got. */
export interface Drain {
  /** shutdown was requested: load balancers are told to send elsewhere */
  readonly isLeaving: boolean
  /** new requests are refused */
  readonly isDraining: boolean
  /** the time for requests in flight is up: those that are left are cut off */
  readonly isCutting: boolean
}

const apis: ReadonlyMap<string, PromptApi> = new Map(
  Object.entries(promptPaths).map(([api, path]) => [path, api as PromptApi]),
)

/** The data plane: rewrites requests with prompts and passes everything else through. */
export function createApp(pipeline: Pipeline, drain: Drain): RequestListener {
  return (incoming, outgoing) => {
    const api = incoming.method === 'POST' ? apis.get(pathOf(incoming.url!)) : undefined
    answer(incoming, outgoing, pipeline, drain, api).catch((error: unknown) => {
      pipeline.log.error({ error }, 'request failed')
      outgoing.destroy()
    })
  }
}

/** Runs one request to completion. Our own errors are answered here and nowhere else. */
async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  pipeline: Pipeline,
  drain: Drain,
  api: PromptApi | undefined,
): Promise<void> {
  const client = clientAddress(incoming.socket)
  const passed = api === undefined ? incoming : undefined
  const telemetry = new RequestTelemetry(pipeline.telemetry, api ?? 'pass_through', incoming.headers, client, passed)
  const gone = new ClientLeft()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort(new Error('the client left'))
  })
  outgoing.on('error', (error) => pipeline.log.debug({ error }, 'the client left while it was written to'))
  const exchange = { incoming, outgoing, clientLeft: gone, telemetry }
  const { bodyStallSeconds } = pipeline.settings()
  const stopWatching = watchBody(exchange, 1_000 * bodyStallSeconds, (error) => gone.abort(error))
  let outcome: Outcome
  try {
    if (drain.isDraining) {
      throw new ProxyError('draining', 'The proxy is shutting down: send to another.', {
        headers: { connection: 'close' },
      })
    }
    refuseLoop(incoming)
    outcome = await (api ? runPipeline(pipeline, api, exchange) : passThrough(pipeline, exchange))
    // given up by us
    if (outcome === 'client_left') gone.throwIfAborted()
  } catch (error) {
    outcome = answerError(gone.aborted ? gone.reason : error, exchange, pipeline, api)
  }
  stopWatching()
  const unread = brokenOff.get(outgoing)
  if (unread) {
    telemetry.refused(undefined, unread.reason)
    telemetry.ended('unreadable_request', { headersSent: true, statusCode: unread.status! })
    return
  }
  const isCut = drain.isCutting && (outcome === 'client_left' || outcome === 'engine_broke_off')
  telemetry.ended(isCut ? 'cut_by_drain' : outcome, outgoing)
}

function answerError(
  error: unknown,
  { incoming, outgoing, clientLeft, telemetry }: Exchange,
  pipeline: Pipeline,
  api: PromptApi | undefined,
): Outcome {
  const hasLeft = clientLeft.aborted && !(error instanceof ProxyError)
  // the request may close before the response notices
  if (hasLeft || incoming.socket?.destroyed) return 'client_left'
  const known = toProxyError(error)
  if (known !== error) pipeline.log.error({ error }, 'request failed')
  // counts of tokens and batches, which are passed through, are Anthropic's too
  const shape = api ?? (incoming.url?.startsWith('/v1/messages/') ? 'messages' : undefined)
  const body = Buffer.from(known.toBody(shape))
  const id = String(incoming.headers['x-request-id'] || (outgoing.getHeader('x-request-id') ?? randomUUID()))
  telemetry.refused(id, known instanceof UnreachableError ? known.reason : undefined)
  if (outgoing.headersSent) {
    // the head was ours, and only comments followed it
    if (!outgoing.writableEnded) outgoing.end(toErrorEvent(body, api, known.status))
    return known.code
  }
  outgoing.writeHead(known.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': id,
    // behind a connection balancer, a new connection may reach a proxy whose engine answers
    ...(known.code === 'engine_unreachable' ? { connection: 'close' } : {}),
    ...known.headers,
  })
  void endBehindBody(incoming, outgoing, body)
  return known.code
}

/**
 * Returns the path of a request as engines read it: unescaped, but with its dot segments. Resolving these would take
 * `/metrics/../v1/chat/completions` for a prompt, which an engine takes for a path below `/metrics`.
 */
function pathOf(target: string): string {
  const [path = ''] = target.split('?', 1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
