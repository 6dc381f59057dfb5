import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import type { RequestId } from '#index/context-block.ts'
import { mayControl } from '../access/may-control.ts'
import type { TenantSource } from '../access/tenancy.ts'
import { ProxyError, toProxyError } from '../common/errors.ts'
import type { Log } from '../common/log.ts'
import { endBehindBody, readBody } from '../http/read-body.ts'
import type { UnresolvedEngine } from '../replicas/discovery/engine-discovery.ts'
import type { Acknowledgement, ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'
import type { Drain } from '../request/app.ts'
import { explain, explainBehind } from '../request/explain.ts'
import type { Pipeline } from '../request/pipeline.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { describeTemplates } from '../templates/describe-template.ts'
import { AdminLog } from './admin-log.ts'
import { readDashboardPage } from './dashboard/dashboard-page.ts'
import { describeIndex, describeReplicas, type ReplicaDescription } from './dashboard/describe-replicas.ts'
import { History } from './dashboard/history.ts'
import { readCounts } from './dashboard/read-counts.ts'
import { describeBlocks, readStats, type WordsOf } from './dashboard/read-stats.ts'
import { type AdminApp, addChunkRoutes, addPinRoutes, addTemplateRoutes, readJson } from './operator-routes.ts'

type AdminContext = Context<{ Bindings: HttpBindings }>

/** The largest callback body that is read, in bytes. */
const eventBodyLimit = 8 * 1024 * 1024

export interface AdminDependencies {
  readonly pipeline: Pipeline
  readonly drain: Drain
  /** whether `readyz` covers only the proxy, or also an engine that takes requests */
  readonly readyz: () => 'proxy' | 'engine'
  /** what distinguishes tenants, and whether keys are required */
  readonly tenants: () => { readonly from: TenantSource; readonly keys: boolean }
  /** required from callers that are not on this machine; if it is undefined, they are refused */
  readonly token: () => string | undefined
  readonly telemetry: Pick<Telemetry, 'metrics' | 'log' | 'hot' | 'divergence' | 'recent' | 'words'>
  readonly version: string
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
  const { registry } = dependencies.telemetry.metrics
  const history = new History({ read: () => readCounts(registry), now: Date.now })
  const { fetch } = createAdminApp(dependencies, history)
  history.start()
  // the name is for HTTP/1.0 without a Host header
  const options = { overrideGlobalObjects: false, hostname: 'localhost' }
  const handle = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], options)
  return { handle, close: () => history.close() }
}

/** The control plane: docs/operations.md lists its paths, docs/contract.md what may be relied on. */
export function createAdminApp(dependencies: AdminDependencies, history: History): AdminApp {
  const { pipeline, drain, token, telemetry } = dependencies
  const page = readDashboardPage()
  const app: AdminApp = new Hono()
  const adminLog = new AdminLog(telemetry.log)
  app.onError((error, c) => {
    const { status } = toProxyError(error)
    if (status === 401 || status === 403) adminLog.refused(c.env.incoming, status)
    return answerError(error, c, telemetry.log)
  })
  app.notFound((c) => answerError(noSuchRoute(app, c.req.path), c, telemetry.log))
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', (c) => {
    const { replicas } = pipeline
    const isEmpty = replicas.all.length === 0
    if (drain.isLeaving || (!isEmpty && replicas.candidates().length === 0)) return c.json({ status: 'draining' }, 503)
    const isDown = dependencies.readyz() === 'engine' && replicas.all.every(({ state }) => state !== 'ready')
    return isEmpty || isDown ? c.json({ status: 'no_engine' }, 503) : c.json({ status: 'ready' })
  })
  // the page contains no data: it asks for the token, then requests the data with it
  app.get('/', (c) => c.body(page.html, 200, page.headers))
  app.use(async (c, next) => {
    const { socket, headers } = c.env.incoming
    if (!mayControl(socket.remoteAddress, headers, token())) {
      const message =
        token() === undefined
          ? 'No admin token is configured, so that only callers on this machine are answered: set admin.token (REPRISE_ADMIN_TOKEN), and send it as a bearer token.'
          : 'Send the admin token (admin.token, REPRISE_ADMIN_TOKEN) as a bearer token.'
      throw new ProxyError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })
    }
    await next()
  })
  app.get('/metrics', async (c) => {
    const { registry } = telemetry.metrics
    return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType })
  })
  app.get('/v1/openapi.json', (c) => {
    const document = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    return c.body(document, 200, { 'content-type': 'application/json' })
  })
  app.post('/v1/explain', async (c) => {
    const body = await readBody(c.env.incoming, { limit: pipeline.settings().limits.body_bytes })
    const api = c.req.query('api')
    const explanation =
      c.req.query('earlier') === undefined
        ? await explain(pipeline, c.env.incoming, body, api)
        : await explainBehind(pipeline, c.env.incoming, body, api)
    return c.body(explanation, 200, { 'content-type': 'application/json' })
  })
  addFigures(app, dependencies, history, adminLog)
  app.get('/v1/shapes', (c) => c.json({ shapes: telemetry.recent.shapes }))
  const secondsSinceMatch = (): number | null => pipeline.telemetry.recent.secondsSinceChunks
  addChunkRoutes(app, { ...pipeline, secondsSinceMatch }, adminLog)
  addTemplateRoutes(app, { ...pipeline, mode: () => pipeline.settings().mode }, adminLog)
  addPinRoutes(app, pipeline.pins, adminLog)
  addReplicaSwitches(app, dependencies, adminLog)
  // for a stop hook, which cannot send a signal to another container
  app.post('/v1/drain', (c) => {
    adminLog.changed(c.env.incoming, { state: 'draining' })
    // a second signal would cut off requests in flight
    if (!drain.isLeaving) process.kill(process.pid, 'SIGTERM')
    return c.json({ status: 'draining' }, 202)
  })
  addCallbacks(app, dependencies)
  return app
}

/** Adds routes that show what the index and the mirrors hold, for people and for the dashboard. */
function addFigures(app: AdminApp, dependencies: AdminDependencies, history: History, adminLog: AdminLog): void {
  const { pipeline, drain, telemetry, version } = dependencies
  const { replicas } = pipeline
  const estimateTokens = (characters: number): number => replicas.all[0]?.mirror.estimateTokens(characters) ?? 0
  const wordsOf: WordsOf = (block) => (pipeline.settings().keepsWords ? telemetry.words.of(block) : undefined)
  const describe = (): ReplicaDescription[] => describeReplicas(replicas.all, telemetry.divergence)
  app.get('/v1/index', (c) => {
    const top_blocks = describeBlocks({ hot: telemetry.hot, estimateTokens, wordsOf })
    return c.json({ ...describeIndex(replicas.all), top_blocks })
  })
  app.delete('/v1/index', (c) => {
    for (const { replicaMirror } of replicas.all) replicaMirror.clear()
    telemetry.hot.clear()
    pipeline.warmer.clear()
    adminLog.changed(c.env.incoming, { state: 'cleared' })
    return c.json({ status: 'cleared' })
  })
  app.get('/v1/mirror', (c) => {
    const tenants = { ...dependencies.tenants(), trusts_caller: pipeline.tenancy().trusts(c.env.incoming) }
    return c.json({ replicas: describe(), tenants })
  })
  app.get('/v1/gain', (c) =>
    c.json(pipeline.gain.report(pipeline.settings().mode), 200, { 'cache-control': 'no-store' }),
  )
  app.get('/v1/usage', (c) => c.json(telemetry.metrics.usage.report(), 200, { 'cache-control': 'no-store' }))
  app.get('/v1/stats', async (c) => {
    const sources = {
      recent: telemetry.recent,
      chunks: pipeline.chunks,
      registry: telemetry.metrics.registry,
      history,
      hot: telemetry.hot,
      wordsOf,
      gain: pipeline.gain.report(pipeline.settings().mode),
      templates: describeTemplates(pipeline.templates, pipeline.settings().mode, pipeline.now()),
      replicas: describe(),
      version,
      mode: pipeline.settings().mode,
      isDraining: drain.isDraining,
      estimateTokens,
    }
    return c.json(await readStats(sources), 200, { 'cache-control': 'no-store' })
  })
}

/** Adds routes that replace the engines, and that take replicas out of use and put them back. */
function addReplicaSwitches(
  app: AdminApp,
  { pipeline: { replicas }, setEngines }: AdminDependencies,
  adminLog: AdminLog,
): void {
  const change = (path: string, state: string, apply: (replica: string) => boolean): void => {
    app.post(`/v1/replicas/:replica/${path}`, (c) => {
      const replica = c.req.param('replica')!
      if (!apply(replica)) throw unknownReplica(replica)
      const now = replicas.find(replica)?.isLeaving ? 'draining' : state
      adminLog.changed(c.env.incoming, { replica, state: now })
      return c.json({ replica, state: now })
    })
  }
  app.put('/v1/engines', async (c) => {
    if (!setEngines) throw new ProxyError('not_found', 'Engines cannot be changed here.')
    const unresolved = await setEngines(await readJson(c, eventBodyLimit))
    const engines = replicas.all.map(({ id, state }) => ({ id, state }))
    adminLog.changed(c.env.incoming, { engines: engines.map(({ id }) => id) })
    return c.json({ engines, ...(unresolved.length > 0 && { unresolved }) })
  })
  change('drain', 'draining', (replica) => replicas.setDraining(replica, true))
  change('resume', 'ready', (replica) => replicas.setDraining(replica, false))
}

/** Adds the routes where engines report what they hold. */
function addCallbacks(app: AdminApp, { pipeline: { replicas }, telemetry }: AdminDependencies): void {
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
