import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono, type Context as HonoContext } from 'hono'
import { ProxyError, toProxyError } from './errors.ts'
import type { ForwardOutcome } from './forward.ts'
import { passThrough } from './pass-through.ts'
import { type Exchange, type Pipeline, runPipeline } from './pipeline.ts'

/** Whether new requests are taken. */
export interface Drain {
  readonly isDraining: boolean
}

/** What the Node server hands to Hono. */
export type ServerEnv = { Bindings: HttpBindings }

/** The data plane: chat completions are rewritten, everything else passes. */
export function createApp(pipeline: Pipeline, drain: Drain): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>()
  app.post('/v1/chat/completions', (c) =>
    answer(c, 'chat_completions', pipeline, drain, (exchange) => runPipeline(pipeline, exchange)),
  )
  app.all('*', (c) => answer(c, 'pass_through', pipeline, drain, (exchange) => passThrough(pipeline.engine, exchange)))
  return app
}

/** Runs one request to its end; errors of ours are answered here and nowhere else. */
async function answer(
  c: HonoContext<ServerEnv>,
  route: string,
  pipeline: Pipeline,
  drain: Drain,
  run: (exchange: Exchange) => Promise<ForwardOutcome>,
): Promise<Response> {
  const { incoming, outgoing } = c.env
  const gone = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort(new Error('the client left'))
  })
  outgoing.on('error', (error) => pipeline.log.debug({ error }, 'the client left while it was written to'))
  const requests = pipeline.metrics.requests
  try {
    if (drain.isDraining) {
      throw new ProxyError('draining', 'The proxy is shutting down: send to another.', {
        headers: { connection: 'close' },
      })
    }
    requests.inc({ route, outcome: await run({ incoming, outgoing, clientLeft: gone.signal }) })
  } catch (error) {
    requests.inc({ route, outcome: answerError(error, { incoming, outgoing, clientLeft: gone.signal }, pipeline) })
  }
  return RESPONSE_ALREADY_SENT
}

function answerError(error: unknown, { incoming, outgoing, clientLeft }: Exchange, pipeline: Pipeline): string {
  // the request may end before the response notices
  if (clientLeft.aborted || incoming.socket?.destroyed) {
    pipeline.metrics.streamAborts.inc({ phase: 'queue' })
    return 'client_left'
  }
  const known = toProxyError(error)
  if (known !== error) pipeline.log.error({ error }, 'request failed')
  if (outgoing.headersSent) {
    outgoing.destroy()
    return known.code
  }
  const requestId = incoming.headers['x-request-id']
  outgoing.writeHead(known.status, {
    'content-type': 'application/json',
    ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    ...known.headers,
  })
  outgoing.end(known.toBody())
  return known.code
}
