import { type IncomingHttpHeaders, IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ForwardOutcome } from '../common/reasons.ts'

export const latestResponses: WeakMap<Duplex, ServerResponse> = new WeakMap()

/**
 * A request that may ask to switch protocols. Once there is an `upgrade` listener, Node takes all such requests out of
 * HTTP; with this class it takes only WebSockets. A request for anything else (`h2c`, which Java's client sends with
 * every request), or with a body, continues as HTTP/1.1, which the standard allows.
 */
export class UpgradableRequest extends IncomingMessage {
  /** the value that Node set; not `#private`, since the inherited constructor sets `upgrade` */
  private isAsked: boolean | null = null

  /** called before its body is read for the first time */
  onFirstRead: (() => void) | undefined

  override _read(size: number): void {
    const tell = this.onFirstRead
    this.onFirstRead = undefined
    tell?.()
    super._read(size)
  }

  /** Set and read by Node when it parses the request's head. */
  get upgrade(): boolean | null {
    return this.isAsked && (this.method === 'CONNECT' || isWebSocket(this))
  }

  set upgrade(isAsked: boolean | null) {
    this.isAsked = isAsked
  }
}

/** Returns the protocol that a request asks to switch to; null if it asks for none that we support. */
export function upgradeOf(incoming: IncomingMessage): string | null {
  return incoming instanceof UpgradableRequest && incoming.upgrade ? incoming.headers.upgrade! : null
}

function isWebSocket({ method, httpVersionMinor, headers, socket }: IncomingMessage): boolean {
  // behind a request that waits for its answer, the connection stays HTTP
  if (latestResponses.get(socket)?.writableFinished === false) return false
  if (method !== 'GET' || httpVersionMinor === 0 || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
}

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
