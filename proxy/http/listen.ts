import type { RequestListener } from 'node:http'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import type { Hono } from 'hono'
import { clientAddress } from './client-address.ts'
import { Listener, type ListenerOptions } from './listener.ts'

/** What the Node server hands to Hono. */
export type ServerEnv = { Bindings: HttpBindings }

/** Serves an app at an address. Requests wait until the app is ready. Rejects like `Listener.listen`. */
export async function listen(
  app: Hono<ServerEnv> | Promise<Hono<ServerEnv>>,
  { host, port }: { readonly host: string; readonly port: number },
  options: ListenerOptions,
): Promise<Listener> {
  const listener = new Listener(toRequestListener(app, options), options)
  await listener.listen(host, port)
  return listener
}

function toRequestListener(
  app: Hono<ServerEnv> | Promise<Hono<ServerEnv>>,
  { onUnread }: ListenerOptions,
): RequestListener {
  const fetch = async (...[request, env]: Parameters<Hono<ServerEnv>['fetch']>): Promise<Response> =>
    (await app).fetch(request, env)
  return (incoming, outgoing) =>
    getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
      overrideGlobalObjects: false,
      // for HTTP/1.0 without a Host header
      hostname: 'localhost',
      // created per request, so that a refusal is logged with its client
      errorHandler: (error) => {
        if (!(error instanceof RequestError)) throw error
        onUnread({ status: 400, reason: error.message, client: clientAddress(incoming.socket) })
        return new Response(null, { status: 400 })
      },
    })(incoming, outgoing)
}
