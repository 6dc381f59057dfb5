import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import type { RequestId } from '#index/context-block.ts'
import { mayControl } from '../access/may-control.ts'
import { ProxyError, toProxyError } from '../common/errors.ts'
import type { Log } from '../common/log.ts'
import { readVersion } from '../common/read-version.ts'
import { endBehindBody, readBody } from '../http/read-body.ts'
import type { UnresolvedEngine } from '../replicas/discovery/engine-discovery.ts'
import type { Acknowledgement, ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'
import type { Drain } from '../request/app.ts'
import { explain, explainBehind } from '../request/explain.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { AdminLog } from './admin-log.ts'
import { readDashboardPage } from './dashboard/dashboard-page.ts'
import { describeIndex, describeReplicas } from './dashboard/describe-replicas.ts'
import { History } from './dashboard/history.ts'
import { readCounts } from './dashboard/read-counts.ts'
import { describeBlocks, readStats } from './dashboard/read-stats.ts'
import {
  type AdminApp,
  type AdminContext,
  addChunkRoutes,
  addPinRoutes,
  addTemplateRoutes,
  fresh,
  readJson,
} from './operator-routes.ts'

/** The largest callback body that is read, in bytes. */
const eventBodyLimit = 8 * 1024 * 1024

export interface AdminDependencies {
  readonly pipeline: Pipeline
  readonly drain: Drain
  /**
   * Replaces the engines by those of a body; resolves with those whose names lead nowhere yet. Throws a `ProxyError` for
   * mistakes, and then changes nothing.
   */
  readonly setEngines?: ((body: unknown) => Promise<readonly UnresolvedEngine[]>) | undefined
}

/** What answers requests to the control plane, until it is closed. */
export interface AdminHandler {
  readonly handle: RequestListener
  close(): void
}

/** Creates what answers, and begins the dashboard's history. */
export function createAdminHandler(dependencies: AdminDependencies): AdminHandler {
  const { registry } = dependencies.pipeline.telemetry.metrics
  const history = new History({ read: () => readCounts(registry), now: Date.now })
  const { fetch } = createAdminApp(dependencies, history)
  history.start()
  // the name is for HTTP/1.0 without a Host header
  const options = { overrideGlobalObjects: false, hostname: 'localhost' }
  const handle = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], options)
  return { handle, close: () => history.close() }
}

/** The control plane: docs/operations.md lists its paths, docs/contract.md what may be relied on. */
export function createAdminApp({ pipeline, drain, setEngines }: AdminDependencies, history: History): AdminApp {
  const app: AdminApp = new Hono()
  const adminLog = new AdminLog(pipeline.log)
  app.onError((error, c) => {
    const { status } = toProxyError(error)
    if (status === 401 || status === 403) adminLog.refused(c.env.incoming, status)
    return answerError(error, c, pipeline.log)
  })
  app.notFound((c) => answerError(noSuchRoute(app, c.req.path), c, pipeline.log))
  addOpenRoutes(app, pipeline, drain)
  app.use(async (c, next) => {
    const { socket, headers } = c.env.incoming
    const { token } = pipeline.settings().admin
    if (!mayControl(socket.remoteAddress, headers, token)) {
      const message =
        token === undefined
          ? 'No admin token is configured, so that only callers on this machine are answered: set admin.token (REPRISE_ADMIN_TOKEN), and send it as a bearer token.'
          : 'Send the admin token (admin.token, REPRISE_ADMIN_TOKEN) as a bearer token.'
      throw new ProxyError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
    }
    await next()
  })
  addFigures(app, pipeline, drain, history)
  app.delete('/v1/index', (c) => {
    for (const { replicaMirror } of pipeline.replicas.all) replicaMirror.clear()
    pipeline.telemetry.hot.clear()
    pipeline.warmer.clear()
    adminLog.changed(c.env.incoming, { state: 'cleared' })
    return c.json({ status: 'cleared' })
  })
  addChunkRoutes(app, pipeline, adminLog)
  addTemplateRoutes(app, pipeline, adminLog)
  addPinRoutes(app, pipeline, adminLog)
  addReplicaSwitches(app, pipeline, setEngines, adminLog)
  // for a stop hook, which cannot send a signal to another container
  app.post('/v1/drain', (c) => {
    adminLog.changed(c.env.incoming, { state: 'draining' })
    // a second signal would cut off requests in flight
    if (!drain.isLeaving) process.kill(process.pid, 'SIGTERM')
    return c.json({ status: 'draining' }, 202)
  })
  addCallbacks(app, pipeline)
  return app
}

/** Adds what anybody may ask. The page contains no data: it asks for the token, then requests the data with it. */
function addOpenRoutes(app: AdminApp, { replicas, settings }: Pipeline, drain: Drain): void {
  const page = readDashboardPage()
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', (c) => {
    const isEmpty = replicas.all.length === 0
    if (drain.isLeaving || (!isEmpty && replicas.candidates().length === 0)) return c.json({ status: 'draining' }, 503)
    const isDown = settings().health.readyz === 'engine' && replicas.all.every(({ state }) => state !== 'ready')
    return isEmpty || isDown ? c.json({ status: 'no_engine' }, 503) : c.json({ status: 'ready' })
  })
  app.get('/', (c) => c.body(page.html, 200, page.headers))
}

const json = { 'content-type': 'application/json' }

/** Adds routes that show what the proxy counts, holds and would do, for people and for the dashboard. */
function addFigures(app: AdminApp, pipeline: Pipeline, drain: Drain, history: History): void {
  const { replicas, settings, telemetry } = pipeline
  app.get('/metrics', async (c) => {
    const { registry } = telemetry.metrics
    return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType })
  })
  app.get('/v1/openapi.json', (c) =>
    c.body(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'), 200, json),
  )
  app.post('/v1/explain', async (c) => {
    const body = await readBody(c.env.incoming, { limit: settings().limits.body_bytes })
    const run = c.req.query('earlier') === undefined ? explain : explainBehind
    return c.body(await run(pipeline, { incoming: c.env.incoming, body, api: c.req.query('api') }), 200, json)
  })
  app.get('/v1/index', (c) => c.json({ ...describeIndex(replicas.all), top_blocks: describeBlocks(pipeline) }))
  app.get('/v1/mirror', (c) => {
    const trusts_caller = pipeline.tenancy().trusts(c.env.incoming)
    const tenants = { from: settings().tenants.from, keys: settings().keys.file !== undefined, trusts_caller }
    return c.json({ replicas: describeReplicas(replicas.all, telemetry.divergence), tenants })
  })
  app.get('/v1/gain', (c) => c.json(pipeline.gain.report(settings().mode), 200, fresh))
  app.get('/v1/usage', (c) => c.json(telemetry.metrics.usage.report(), 200, fresh))
  const version = readVersion()
  app.get('/v1/stats', async (c) =>
    c.json(await readStats(pipeline, history, { version, isDraining: drain.isDraining }), 200, fresh),
  )
  app.get('/v1/shapes', (c) => c.json({ shapes: telemetry.recent.shapes }))
}

/** Adds routes that replace the engines, and that take replicas out of use and put them back. */
function addReplicaSwitches(
  app: AdminApp,
  { replicas }: Pipeline,
  setEngines: AdminDependencies['setEngines'],
  adminLog: AdminLog,
): void {
  app.put('/v1/engines', async (c) => {
    if (!setEngines) throw new ProxyError('not_found', 'Engines cannot be changed here.')
    const unresolved = await setEngines(await readJson(c, eventBodyLimit))
    const engines = replicas.all.map(({ id, state }) => ({ id, state }))
    adminLog.changed(c.env.incoming, { engines: engines.map(({ id }) => id) })
    return c.json({ engines, ...(unresolved.length > 0 && { unresolved }) })
  })
  for (const [path, isDraining] of Object.entries({ drain: true, resume: false })) {
    app.post(`/v1/replicas/:replica/${path}`, (c) => {
      const replica = c.req.param('replica')!
      if (!replicas.setDraining(replica, isDraining)) throw unknownReplica(replica)
      const state = isDraining || replicas.find(replica)?.isLeaving ? 'draining' : 'ready'
      adminLog.changed(c.env.incoming, { replica, state })
      return c.json({ replica, state })
    })
  }
}

/** Adds the routes where engines report what they hold. */
function addCallbacks(app: AdminApp, { replicas, telemetry }: Pipeline): void {
  const reply = (c: AdminContext, acknowledgement: Acknowledgement): Response => {
    if ('sequence' in acknowledgement) return c.json(acknowledgement)
    telemetry.metrics.mirrorGaps.inc()
    return c.json(acknowledgement, 409)
  }
  const find = (c: AdminContext): ReplicaMirror => {
    const replica = replicas.find(c.req.param('replica')!)
    if (!replica) throw unknownReplica(c.req.param('replica')!)
    return replica.replicaMirror
  }
  app.post('/v1/replicas/:replica/events', async (c) =>
    reply(c, await find(c).takeEvents(() => readJson(c, eventBodyLimit))),
  )
  app.post('/v1/replicas/:replica/snapshot', async (c) =>
    reply(c, await find(c).takeSnapshot(() => readJson(c, eventBodyLimit))),
  )
  app.post('/evict', async (c) => {
    const body = (await readJson(c, eventBodyLimit)) as { request_ids?: unknown } | null
    const ids = body?.request_ids
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string')) {
      throw new ProxyError('invalid_body', 'The body must be {"request_ids":[…]} with strings.')
    }
    let evicted = 0
    for (const request_id of ids as RequestId[]) {
      // an id that no replica knows goes to the first, which counts it as unknown
      const holder = replicas.all.find(({ cache }) => cache.knows(request_id))
      if (holder) evicted += 1
      const told = holder ?? replicas.all[0]
      told?.replicaMirror.takeEvent({ type: 'evicted', request_id, cached_tokens: 0 })
    }
    return c.json({ evicted, unknown: ids.length - evicted })
  })
}

/** The error for a request that no route answers: its method or its path is wrong. */
function noSuchRoute({ routes }: AdminApp, path: string): ProxyError {
  const matches = (pattern: string): boolean => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path)
  const known = routes.filter((route) => route.method !== 'ALL' && matches(route.path))
  if (known.length === 0) return new ProxyError('not_found', 'There is no such path.')
  const allow = [...new Set(known.map(({ method }) => method))].join(', ')
  return new ProxyError('method_not_allowed', `This path takes ${allow} alone.`, { headers: { allow } })
}

function unknownReplica(name: string): ProxyError {
  return new ProxyError('not_found', `There is no replica '${name}' that could do this: GET /v1/mirror lists them.`)
}

function answerError(error: Error, c: AdminContext, log: Log): Response {
  const { incoming, outgoing } = c.env
  const known = toProxyError(error)
  const hasLeft = incoming.destroyed && !incoming.complete
  if (known !== error && !hasLeft) log.error({ error }, 'control request failed')
  const body = Buffer.from(known.toBody())
  outgoing.writeHead(known.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...known.headers,
  })
  // a client whose connection ends while it is still sending would never see why
  void endBehindBody(incoming, outgoing, body)
  return RESPONSE_ALREADY_SENT
}
