import { IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Each connection's latest response. */
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
