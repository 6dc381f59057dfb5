import type { Hono } from 'hono'
import { isObject } from '#engine-adapters/json-object.ts'
import { ProxyError } from '../common/errors.ts'
import { parseJson } from '../common/json/json-value.ts'
import type { Mode } from '../common/settings.ts'
import type { ServerEnv } from '../http/listen.ts'
import { readBody } from '../http/read-body.ts'
import { describeTemplate, describeTemplates, type TemplateDescription } from '../templates/describe-template.ts'
import type { TemplateBook } from '../templates/template-book.ts'
import type { AdminLog } from './admin-log.ts'

const bodyLimit = 4_096

interface TemplateControl {
  readonly templates: TemplateBook
  readonly mode: () => Mode
  readonly now: () => number
}

/** Adds the routes by which people see and steer templates (docs/templates.md). */
export function addTemplateRoutes(
  app: Hono<ServerEnv>,
  { templates, mode, now }: TemplateControl,
  log: Pick<AdminLog, 'changed'>,
): void {
  const describe = (id: string): TemplateDescription => {
    const template = templates.get(id)
    if (!template) throw unknownTemplate(id)
    return describeTemplate(templates, template, mode(), now())
  }
  app.get('/v1/templates', (c) =>
    c.json({ mode: mode(), templates: describeTemplates(templates, mode(), now()) }, 200, {
      'cache-control': 'no-store',
    }),
  )
  app.get('/v1/templates/:id', (c) => c.json(describe(c.req.param('id'))))
  app.put('/v1/templates/:id', async (c) => {
    const id = c.req.param('id')
    const body = parseJson((await readBody(c.env.incoming, { limit: bodyLimit })).toString())
    const state = isObject(body) ? body.state : undefined
    if (state !== 'on' && state !== 'off')
      throw new ProxyError('invalid_body', 'Send {"state":"on"} or {"state":"off"}.')
    if (!templates.say(id, state)) throw unknownTemplate(id)
    log.changed(c.env.incoming, { template: id, state })
    return c.json({ id, state: templates.stateOf(id) })
  })
  app.delete('/v1/templates/:id', (c) => {
    const id = c.req.param('id')
    if (!templates.forget(id)) throw unknownTemplate(id)
    log.changed(c.env.incoming, { template: id, state: 'forgotten' })
    return c.json({ id, state: 'forgotten' })
  })
}

function unknownTemplate(id: string): ProxyError {
  return new ProxyError('not_found', `There is no template '${id}': GET /v1/templates lists them.`)
}
