import type { RequestListener } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'

/** What the Node server hands to Hono. */
export type ServerEnv = { Bindings: HttpBindings }

/** Returns a listener that answers by an app. Requests wait until the app is ready. */
export function toRequestListener(app: Promise<Hono<ServerEnv>>): RequestListener {
  const fetch = async (...[request, env]: Parameters<Hono<ServerEnv>['fetch']>): Promise<Response> =>
    (await app).fetch(request, env)
  return getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    overrideGlobalObjects: false,
    // for HTTP/1.0 without a Host header
    hostname: 'localhost',
  })
}
