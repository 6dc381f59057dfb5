import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ForwardOutcome } from '../common/reasons.ts'

/** How long one side may keep its half open after it has seen the end of the other. */
const longestGoodbye = 10_000

/**
 * Answers the client with 101 (switching protocols) and joins its connection to the engine's, each at the other's pace.
 * An end or reset of one is passed on to the other. Resolves when both have closed.
 */
export function switchProtocols(
  response: ServerResponse,
  headers: IncomingHttpHeaders,
  engine: Duplex,
): Promise<ForwardOutcome> {
  const client = response.socket
  if (!client || client.destroyed) {
    engine.on('error', () => {}).destroy()
    return Promise.resolve('client_left')
  }
  response.sendDate = false
  response.writeHead(101, headers)
  response.flushHeaders()
  response.detachSocket(client)
  // the listener's reader that watched for the end of the connection
  client.removeAllListeners('readable')
  return new Promise((resolve) => {
    let outcome: ForwardOutcome | undefined
    let open = 2
    const onClose = (): void => {
      open -= 1
      if (open === 0) resolve(outcome ?? 'finished')
    }
    client.once('error', () => (outcome ??= 'client_left')).once('close', onClose)
    engine.once('error', () => (outcome ??= 'engine_broke_off')).once('close', onClose)
    passOn(client, engine)
    passOn(engine, client)
  })
}

function passOn(from: Duplex, to: Duplex): void {
  // errors after the first have no other listener
  from.on('error', () => {})
  from.pipe(to)
  from.once('close', () => {
    // after a regular end, data on its way to the other side is still delivered
    if (!to.writableEnded) to.destroy()
    // nobody reads it any more, so its end would go unnoticed
    else to.resume()
  })
  to.once('finish', () => {
    const timer = setTimeout(() => to.destroy(), longestGoodbye).unref()
    to.once('close', () => clearTimeout(timer))
  })
}
