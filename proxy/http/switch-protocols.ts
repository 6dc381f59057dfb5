import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** How two joined connections ended. */
export type JoinOutcome = 'finished' | 'client_left' | 'engine_broke_off'

/** How long an end that was told of the other one's end may leave its own unsaid. */
const longestGoodbye = 10_000

/**
 * Tells the client that the engine goes on in another protocol, and joins the connections of both, each at the pace of
 * the other. Resolves when both have ended: an end or a reset of one is passed on to the other.
 */
export function switchProtocols(
  response: ServerResponse,
  headers: IncomingHttpHeaders,
  engine: Duplex,
): Promise<JoinOutcome> {
  const client = response.socket
  if (!client || client.destroyed) {
    engine.on('error', () => {}).destroy()
    return Promise.resolve('client_left')
  }
  response.sendDate = false
  response.writeHead(101, headers)
  response.flushHeaders()
  response.detachSocket(client)
  // what watched for its end
  client.removeAllListeners('readable')
  return new Promise((resolve) => {
    let outcome: JoinOutcome | undefined
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
  // a fault that comes behind the first has nobody else who listens
  from.on('error', () => {})
  from.pipe(to)
  from.once('close', () => {
    // what is still on its way to one that was told of the end is its own
    if (!to.writableEnded) to.destroy()
    // nobody reads it any more, and its end would not be seen
    else to.resume()
  })
  to.once('finish', () => {
    const timer = setTimeout(() => to.destroy(), longestGoodbye).unref()
    to.once('close', () => clearTimeout(timer))
  })
}
