import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { isObject } from '#engine-adapters/json-object.ts'
import { bytesPerChunk } from '../chunks/table/chunk-table.ts'
import { ProxyError } from '../common/errors.ts'
import { decodeBody, parseJson } from '../common/json/json-value.ts'
import { readBody } from '../http/read-body.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { describeTemplate, describeTemplates } from '../templates/describe-template.ts'
import type { AdminLog } from './admin-log.ts'
import { readChunks } from './chunks/read-chunks.ts'

/** The control plane, to which routes are added. */
export type AdminApp = Hono<{ Bindings: HttpBindings }>

export type AdminContext = Context<{ Bindings: HttpBindings }>

/** The headers of figures that change. */
export const fresh = { 'cache-control': 'no-store' }

/** Reads a request's body as JSON. Throws `body_too_large` and `invalid_body`. */
export async function readJson({ env }: AdminContext, limit: number): Promise<unknown> {
  return parseJson(decodeBody(await readBody(env.incoming, { limit, isFixed: true })))
}

/** Adds the routes by which an operator registers and forgets chunks (docs/chunks.md). */
export function addChunkRoutes(app: AdminApp, { chunks, settings, telemetry }: Pipeline, log: AdminLog): void {
  const readText = async (c: AdminContext): Promise<string> =>
    decodeBody(await readBody(c.env.incoming, { limit: settings().limits.body_bytes }))
  app.get('/v1/chunks', (c) =>
    c.json({
      chunks: chunks.size,
      ...chunks.sizes(),
      capacity: chunks.capacity,
      bytes: chunks.size * bytesPerChunk,
      learns: settings().learn,
      last_match_seconds_ago: telemetry.recent.secondsSinceChunks,
    }),
  )
  app.put('/v1/chunks', async (c) => {
    const given = readChunks((await readText(c)).replace(/^\uFEFF/, ''))
    if (chunks.capacity === 0) {
      throw new ProxyError('invalid_body', 'No chunks are kept here: chunks.max_chunks is 0 in the configuration.')
    }
    const tenant = given.tenant ?? (c.req.query('tenant') || undefined)
    const report = await chunks.put(given.chunks, tenant)
    log.changed(c.env.incoming, { tenant, ...report })
    return c.json({ ...report, chunks: chunks.size })
  })
  app.delete('/v1/chunks', async (c) => {
    const body = await readText(c)
    const given = body.trim() === '' ? undefined : readForgotten(parseJson(body))
    const tenant = given?.tenant ?? (c.req.query('tenant') || undefined)
    const isNamed = given?.ids !== undefined
    if (given && !isNamed && tenant === undefined) throw invalid()
    const forgotten = isNamed || tenant !== undefined ? chunks.forget(tenant, given ?? {}) : chunks.clear()
    log.changed(c.env.incoming, { tenant, forgotten })
    return c.json({ forgotten, chunks: chunks.size })
  })
}

/** Reads `{"ids"?:[…],"texts"?:[…],"tenant"?}`, or chunks as they were registered. */
function readForgotten(body: unknown): { ids?: string[]; texts?: string[]; tenant?: string } {
  if (!isObject(body)) throw invalid()
  const { ids, texts, chunks, tenant } = body
  const given = Array.isArray(chunks) && chunks.every(isObject) ? chunks : []
  if (chunks !== undefined && !Array.isArray(chunks)) throw invalid()
  if (tenant !== undefined && typeof tenant !== 'string') throw invalid()
  const wanted = {
    ids: [...toTexts(ids), ...given.filter(({ text }) => text === undefined).flatMap(({ id }) => toTexts([id]))],
    texts: [...toTexts(texts), ...given.flatMap(({ text }) => (text === undefined ? [] : toTexts([text])))],
  }
  const isNamed = ids !== undefined || texts !== undefined || chunks !== undefined
  return { ...(isNamed ? wanted : {}), ...(tenant === undefined ? {} : { tenant }) }
}

function toTexts(value: unknown): string[] {
  if (value === undefined) return []
  const isSound = Array.isArray(value) && value.every((item) => typeof item === 'string' || typeof item === 'number')
  if (!isSound) throw invalid()
  return value.map(String)
}

function invalid(): ProxyError {
  return new ProxyError(
    'invalid_body',
    'The body has to be {"ids":[…],"texts":[…],"tenant":…}, each of which may be missing; no body at all forgets all chunks.',
  )
}

/** Adds the routes by which people see what `cache_control` marks pin, and unpin it (docs/prompt-caching.md). */
export function addPinRoutes(app: AdminApp, { pins }: Pipeline, log: AdminLog): void {
  app.get('/v1/pins', (c) => c.json(pins.describe(), 200, fresh))
  app.delete('/v1/pins', (c) => {
    pins.clear()
    log.changed(c.env.incoming, { state: 'unpinned' })
    return c.json({ state: 'unpinned' })
  })
  app.delete('/v1/pins/:id', (c) => {
    const id = c.req.param('id')
    if (!pins.remove(id)) throw new ProxyError('not_found', `There is no pin '${id}': GET /v1/pins lists them.`)
    log.changed(c.env.incoming, { pin: id, state: 'unpinned' })
    return c.json({ id, state: 'unpinned' })
  })
}

const bodyLimit = 4_096

/** Adds the routes by which people see and steer templates (docs/templates.md). */
export function addTemplateRoutes(app: AdminApp, { templates, settings, now }: Pipeline, log: AdminLog): void {
  const unknown = (id: string): ProxyError =>
    new ProxyError('not_found', `There is no template '${id}': GET /v1/templates lists them.`)
  app.get('/v1/templates', (c) => {
    const { mode } = settings()
    return c.json({ mode, templates: describeTemplates(templates, mode, now()) }, 200, fresh)
  })
  app.get('/v1/templates/:id', (c) => {
    const id = c.req.param('id')
    const template = templates.get(id)
    if (!template) throw unknown(id)
    return c.json(describeTemplate(templates, template, settings().mode, now()))
  })
  app.put('/v1/templates/:id', async (c) => {
    const id = c.req.param('id')
    const body = await readJson(c, bodyLimit)
    const state = isObject(body) ? body.state : undefined
    if (state !== 'on' && state !== 'off')
      throw new ProxyError('invalid_body', 'Send {"state":"on"} or {"state":"off"}.')
    if (!templates.say(id, state)) throw unknown(id)
    log.changed(c.env.incoming, { template: id, state })
    return c.json({ id, state: templates.stateOf(id) })
  })
  app.delete('/v1/templates/:id', (c) => {
    const id = c.req.param('id')
    if (!templates.forget(id)) throw unknown(id)
    log.changed(c.env.incoming, { template: id, state: 'forgotten' })
    return c.json({ id, state: 'forgotten' })
  })
}
