import type { Hono } from 'hono'
import { ProxyError } from '../common/errors.ts'
import type { ServerEnv } from '../http/listen.ts'
import type { PinKeeper } from '../idle/pins/pin-keeper.ts'
import type { AdminLog } from './admin-log.ts'

/** Adds the routes by which people see what `cache_control` marks pin, and unpin it (docs/prompt-caching.md). */
export function addPinRoutes(app: Hono<ServerEnv>, pins: PinKeeper, log: Pick<AdminLog, 'changed'>): void {
  app.get('/v1/pins', (c) => c.json(pins.describe(), 200, { 'cache-control': 'no-store' }))
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
