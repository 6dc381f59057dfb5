import type { EventEmitter } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import { largestHead } from '#engine-adapters/engine-client.ts'
import { ConfigError } from '../common/errors.ts'
import { answerUnread, findHeadFault, refuseUnread, type UnreadRequest } from './answer-unread.ts'
import { clientAddress } from './forwarded-headers.ts'
import { latestResponses, UpgradableRequest } from './upgradable-request.ts'

/** A listener's certificate and key, in PEM. With `ca`, every client must present a certificate signed by it. */
type ListenerTls = Pick<SecureContextOptions, 'cert' | 'key' | 'ca'>

interface ListenerOptions {
  /** how long a client may take to send its request; answers have no limit */
  readonly uploadSeconds: number
  /** called with input that was refused before it became a request */
  readonly onUnread: (unread: UnreadRequest) => unknown
  readonly tls?: ListenerTls | undefined
}

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** The most requests that may wait on one connection. Without a limit, Node reads and keeps all that a client sends. */
const mostWaiting = 100

const minVersion = 'TLSv1.2' as const

/** An HTTP or HTTPS server that can shut down gracefully. */
export class Listener {
  readonly #server: Server | TlsServer
  readonly #handle: RequestListener
  readonly #onUnread: ListenerOptions['onUnread']
  /** how many requests wait for others on their connection */
  readonly #waiting = new WeakMap<Socket, number>()
  /** connections that Node no longer tracks */
  readonly #upgrades = new Set<Socket>()
  #inFlight = 0
  #isLeaving = false
  /** set while closing */
  #onIdle: (() => void) | undefined

  constructor(handle: RequestListener, { uploadSeconds, onUnread, tls }: ListenerOptions) {
    const options = {
      requestTimeout: uploadSeconds * 1000,
      maxHeaderSize: largestHead,
      connectionsCheckingInterval: 1_000,
      // longer than a load balancer keeps its idle connections
      keepAliveTimeout: 75_000,
      noDelay: true,
      // Node's own refusal would leave no line in the log
      requireHostHeader: false,
      IncomingMessage: UpgradableRequest,
    }
    this.#handle = handle
    this.#onUnread = onUnread
    this.#server = createAnyServer(options, tls, (request, response) => this.#take(request, response))
    // without these listeners Node answers: 417 without a line in the log, and 100 before a request is looked at
    this.#server.on('checkExpectation', (request, response) => this.#take(request, response))
    this.#server.on('checkContinue', (request, response) => {
      askForBodyLate(request as UpgradableRequest, response)
      this.#take(request, response)
    })
    // their size together is limited; beyond a number of them, Node would drop the others without a word
    this.#server.maxHeadersCount = 0
    this.#server.on('clientError', (error, socket) => this.#answerUnread(error, socket))
    this.#server.on('connect', (_request, socket) =>
      this.#answerUnread(Object.assign(new Error('a tunnel'), { code: 'CONNECT' }), socket),
    )
    this.#server.on('upgrade', (request, socket, head) => this.#takeUpgrade(request, socket as Socket, head))
  }

  /** Creates one that listens at an address. Rejects with a ConfigError if the address cannot be used. */
  static at({ host, port }: ListenAddress, handle: RequestListener, options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(handle, options)
    return new Promise((resolve, reject) => {
      listener.#server.once('error', (error) =>
        reject(new ConfigError(`Cannot listen on ${host}:${port}: ${error.message}: choose another address.`)),
      )
      listener.#server.listen(port, host, () => resolve(listener))
    })
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo
    return `${'setSecureContext' in this.#server ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /** Uses these certificates for new connections. Has no effect on a listener created without TLS. */
  setTls(tls: ListenerTls): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext({ ...tls, minVersion })
  }

  /** From now on closes the connection after every answer, so that clients reconnect, here or elsewhere. */
  endConnectionsBehindAnswers(): void {
    this.#isLeaving = true
  }

  /**
   * Waits for the requests in flight, cuts off the rest when the time is up, and stops listening. Until then it still
   * accepts requests, so that they can be answered with the error that the proxy is draining. `onCut` is called before
   * any is cut off.
   */
  close(graceMilliseconds: number, onCut: () => void = () => {}): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(cutOff)
        this.#server.close(() => resolve())
        // Node does not count connections that never carried a request as idle, and would wait for them
        this.#server.closeAllConnections()
        for (const socket of this.#upgrades) socket.destroy()
      }
      const cutOff = setTimeout(() => {
        onCut()
        end()
      }, graceMilliseconds)
      this.#onIdle = end
      if (this.#inFlight === 0) end()
    })
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const begin = (socket: Socket): void => {
      this.#countUntilClosed(response)
      if (this.#isLeaving) response.shouldKeepAlive = false
      latestResponses.set(socket, response)
      this.#handOver(request, response)
    }
    if (response.socket) begin(response.socket)
    else this.#wait(request.socket, response, begin)
  }

  /** A pipelined request has no socket before its turn, and could not notice earlier that its client left. */
  #wait(socket: Socket, response: ServerResponse, begin: (socket: Socket) => void): void {
    // it was cut off, but Node still parses what it has read
    if (socket.destroyed) return
    const waiting = (this.#waiting.get(socket) ?? 0) + 1
    this.#waiting.set(socket, waiting)
    if (waiting > mostWaiting) {
      this.#onUnread({ status: undefined, reason: 'TOO_MANY_PIPELINED', client: clientAddress(socket) })
      socket.destroy()
      return
    }
    response.once('socket', () => {
      this.#waiting.set(socket, this.#waiting.get(socket)! - 1)
      begin(socket)
    })
  }

  #handOver(request: IncomingMessage, response: ServerResponse): void {
    request.url = toOriginForm(request.url!)
    const fault = findHeadFault(request)
    if (fault === undefined) this.#handle(request, response)
    else this.#onUnread(refuseUnread(request, response, fault))
  }

  /** Node has handed over the connection: answer once, then close it unless both sides agreed to switch protocols. */
  #takeUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => {})
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    try {
      response.assignSocket(socket)
    } catch {
      // it arrived while an earlier request was being answered
      socket.destroy()
      return
    }
    response.on('finish', () => socket.destroySoon())
    this.#upgrades.add(socket)
    this.#countUntilClosed(socket)
    socket.once('close', () => this.#upgrades.delete(socket))
    if (head.length > 0) socket.unshift(head)
    // without a reader we would not notice a client that leaves before it is answered
    socket.on('readable', () => {
      if (socket.readableLength === 0) socket.read()
    })
    socket.once('end', () => {
      if (response.socket) socket.destroy()
    })
    this.#handOver(request, response)
  }

  #answerUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
    const unread = answerUnread(error, socket, latestResponses.get(socket))
    if (unread) this.#onUnread(unread)
  }

  #countUntilClosed(exchange: EventEmitter): void {
    this.#inFlight += 1
    exchange.on('close', () => {
      this.#inFlight -= 1
      if (this.#inFlight === 0) this.#onIdle?.()
    })
  }
}

/** Sends `100 Continue` when the body is first read, and never after a head: a refused body is not requested. */
function askForBodyLate(request: UpgradableRequest, response: ServerResponse): void {
  request.onFirstRead = () => {
    if (!response.headersSent) response.writeContinue()
  }
}

/** Returns the path and query of a request target, which may be a whole URL (RFC 9112 §3.2.2). */
function toOriginForm(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  return path.startsWith('?') || path === '' ? `/${path}` : path
}

function createAnyServer(
  options: ServerOptions,
  tls: ListenerTls | undefined,
  handle: RequestListener,
): Server | TlsServer {
  if (tls === undefined) return createServer(options, handle)
  const requestCert = tls.ca !== undefined
  // no HTTP/2, since streams are written straight to the response
  const own = { minVersion, requestCert, ALPNProtocols: ['http/1.1'], handshakeTimeout: 10_000 }
  return createTlsServer({ ...options, ...tls, ...own }, handle)
}
