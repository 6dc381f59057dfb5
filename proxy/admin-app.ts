import { createHash, timingSafeEqual } from 'node:crypto'
import { Hono, type Context as HonoContext } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { RequestId } from '#index/context-block.ts'
import type { Drain, ServerEnv } from './app.ts'
import { ProxyError, toProxyError } from './errors.ts'
import { explain } from './explain.ts'
import { parseJson } from './parse-json.ts'
import type { Reuse } from './pipeline.ts'
import { readBody } from './read-body.ts'
import type { Acknowledgement, ReplicaMirror } from './replica-mirror.ts'

/** The largest callback that is read. */
const eventBodyLimit = 8 * 1024 * 1024
const loopback = /^(127\.|::1$|::ffff:127\.)/

export interface AdminDependencies {
  readonly reuse: Reuse
  readonly replica: ReplicaMirror
  readonly drain: Drain
  /** needed by callers that are not on this machine; without one they are refused */
  readonly token: string | undefined
}

/** The control plane (CONTRACT §4). */
export function createAdminApp({ reuse, replica, drain, token }: AdminDependencies): Hono<ServerEnv> {
  const app = new Hono<ServerEnv>()
  app.onError((error, c) => answerError(error, c, reuse))
  app.notFound((c) => answerError(new ProxyError('not_found', 'There is no such path.'), c, reuse))
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', (c) => (drain.isDraining ? c.json({ status: 'draining' }, 503) : c.json({ status: 'ready' })))
  app.use(async (c, next) => {
    if (!mayControl(c.env.incoming.socket.remoteAddress, c.req.header('authorization'), token)) {
      throw new ProxyError('unauthorized', 'Send the admin token (REPRISE_ADMIN_TOKEN) as a bearer token.')
    }
    await next()
  })
  app.get('/metrics', async (c) => c.body(await reuse.metrics.registry.metrics(), 200, metricsHeaders(reuse)))
  app.get('/v1/index', (c) => {
    const { nodes, contexts, requests } = reuse.mirror.statistics
    return c.json({ nodes, contexts, requests })
  })
  app.delete('/v1/index', (c) => {
    reuse.mirror.apply({ type: 'cleared' })
    return c.json({ status: 'cleared' })
  })
  app.get('/v1/mirror', (c) => {
    const { requests, cachedTokens, unknownRequests } = reuse.mirror.statistics
    const { mode, generation, sequence } = replica.state
    return c.json({
      replicas: [
        {
          replica: replica.replica,
          mode,
          generation: generation ?? null,
          sequence,
          requests,
          cached_tokens: cachedTokens,
          unknown_requests: unknownRequests,
        },
      ],
    })
  })
  app.post('/v1/explain', async (c) => {
    const body = await readBody(c.env.incoming, reuse.bodyLimit)
    return c.body(explain(reuse, c.env.incoming, body), 200, { 'content-type': 'application/json' })
  })
  addCallbacks(app, reuse, replica)
  return app
}

/** Where engines report what they hold. */
function addCallbacks(app: Hono<ServerEnv>, { metrics, mirror }: Reuse, replica: ReplicaMirror): void {
  const reply = (c: HonoContext<ServerEnv>, acknowledgement: Acknowledgement): Response => {
    if ('sequence' in acknowledgement) return c.json(acknowledgement)
    metrics.mirrorGaps.inc()
    return c.json(acknowledgement, 409)
  }
  const read = (c: HonoContext<ServerEnv>) => async (): Promise<unknown> =>
    parseJson((await readBody(c.env.incoming, eventBodyLimit)).toString())
  const known = (c: HonoContext<ServerEnv>): void => {
    if (c.req.param('replica') === replica.replica) return
    throw new ProxyError(
      'not_found',
      `There is no replica '${c.req.param('replica')}'; the one here is '${replica.replica}'.`,
    )
  }
  app.post('/v1/replicas/:replica/events', async (c) => {
    known(c)
    return reply(c, await replica.takeEvents(read(c)))
  })
  app.post('/v1/replicas/:replica/snapshot', async (c) => {
    known(c)
    return reply(c, await replica.takeSnapshot(read(c)))
  })
  app.post('/evict', async (c) => {
    const body = (await read(c)()) as { request_ids?: unknown } | null
    const ids = body?.request_ids
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) {
      throw new ProxyError('invalid_body', 'The body must be {"request_ids":[…]} with strings.')
    }
    for (const id of ids) mirror.apply({ type: 'evicted', request: id as RequestId, cachedTokens: 0 })
    return c.json({ evicted: ids.length })
  })
}

function mayControl(
  address: string | undefined,
  authorization: string | undefined,
  token: string | undefined,
): boolean {
  if (address !== undefined && loopback.test(address)) return true
  if (token === undefined || authorization === undefined) return false
  const [given, wanted] = [authorization, `Bearer ${token}`].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(given!, wanted!)
}

function metricsHeaders(reuse: Reuse): Record<string, string> {
  return { 'content-type': reuse.metrics.registry.contentType }
}

function answerError(error: Error, c: HonoContext<ServerEnv>, reuse: Reuse): Response {
  const known = toProxyError(error)
  if (known !== error) reuse.log.error({ error }, 'control request failed')
  return c.body(known.toBody(), known.status as ContentfulStatusCode, {
    'content-type': 'application/json',
    ...known.headers,
  })
}
