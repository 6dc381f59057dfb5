import { IncomingMessage } from 'node:http'

/**
 * A request that asks to go on in another protocol on its connection. Node takes all of these out of HTTP as soon as
 * anybody listens for them; of this class it takes WebSockets alone. What asks for anything else (`h2c`, as Java's
 * client does with every request) or has a body goes on as HTTP/1.1, which it may.
 */
export class UpgradableRequest extends IncomingMessage {
  /** what Node found; no `#private`, since the constructor it inherits from sets `upgrade` */
  private isAsked: boolean | null = null

  /** Node sets and reads it with the head of the request. */
  get upgrade(): boolean | null {
    return this.isAsked && (this.method === 'CONNECT' || isWebSocket(this))
  }

  set upgrade(isAsked: boolean | null) {
    this.isAsked = isAsked
  }
}

/** The protocol that a request goes on in if the engine agrees; null for a request that is HTTP alone. */
export function upgradeOf(incoming: IncomingMessage): string | null {
  return incoming instanceof UpgradableRequest && incoming.upgrade ? incoming.headers.upgrade! : null
}

function isWebSocket({ method, httpVersionMinor, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersionMinor === 0 || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0'
}
