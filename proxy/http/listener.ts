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
import { largestHead } from '#engine-adapters/engine-client.ts'
import { ConfigError } from '../config/config-error.ts'
import { answerUnread, type UnreadRequest } from './answer-unread.ts'
import { UpgradableRequest } from './upgradable-request.ts'

/** What a listener proves itself with, in PEM; with `clientCa` every client has to show a certificate of it. */
export interface ListenerTls {
  readonly cert: Buffer
  readonly key: Buffer
  readonly clientCa: Buffer | undefined
}

export interface ListenerOptions {
  /** how long a client may take to send its request; answers take as long as they take */
  readonly uploadSeconds: number
  /** is told of what was refused before it was a request */
  readonly onUnread: (unread: UnreadRequest) => unknown
  readonly tls?: ListenerTls | undefined
}

/** A listening HTTP or HTTPS server that can end what is in flight. */
export class Listener {
  readonly #server: Server | TlsServer
  readonly #isSecure: boolean
  readonly #handle: RequestListener
  readonly #onUnread: ListenerOptions['onUnread']
  /** what each connection was last answered with */
  readonly #responses = new WeakMap<Duplex, ServerResponse>()
  /** connections that Node no longer knows as its own */
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
      // idle connections outlive a load balancer's
      keepAliveTimeout: 75_000,
      noDelay: true,
      IncomingMessage: UpgradableRequest,
    }
    this.#handle = handle
    this.#onUnread = onUnread
    this.#isSecure = tls !== undefined
    this.#server = createAnyServer(options, tls, (request, response) => {
      const begin = (): void => {
        this.#countUntilClosed(response)
        if (this.#isLeaving) response.shouldKeepAlive = false
        this.#responses.set(response.socket!, response)
        handle(request, response)
      }
      // one of several in a row has no socket before its turn, and would not be told until then that its client left
      if (response.socket) begin()
      else response.once('socket', begin)
    })
    this.#server.on('clientError', (error, socket) => this.#answerUnread(error, socket))
    this.#server.on('connect', (_request, socket) =>
      this.#answerUnread(Object.assign(new Error('a tunnel'), { code: 'CONNECT' }), socket),
    )
    this.#server.on('upgrade', (request, socket, head) => this.#takeUpgrade(request, socket as Socket, head))
  }

  /** Rejects with a ConfigError when the address cannot be used. */
  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(new ConfigError(`Cannot listen on ${host}:${port}: ${error.message}: choose another address.`)),
      )
      this.#server.listen(port, host, resolve)
    })
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo
    return `${this.#isSecure ? 'https' : 'http'}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  }

  /** New connections are greeted with these certificates; without effect on a listener that began without any. */
  setTls(tls: ListenerTls): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(toContext(tls))
  }

  /** From now on every answer ends its connection, so that its client comes back over another one, or to another. */
  endConnectionsBehindAnswers(): void {
    this.#isLeaving = true
  }

  /**
   * Waits for the requests in flight, cuts off what is left when the time is up, and stops listening. Until then new
   * requests are still taken, so that they can be told that the proxy is draining.
   */
  close(graceMilliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(cutOff)
        this.#server.close(() => resolve())
        // connections that never carried a request do not count as idle for Node and would be waited for
        this.#server.closeAllConnections()
        for (const socket of this.#upgrades) socket.destroy()
      }
      const cutOff = setTimeout(end, graceMilliseconds)
      this.#onIdle = end
      if (this.#inFlight === 0) end()
    })
  }

  /** Node has let go of the connection: it is answered once, and ends then unless both sides have agreed to go on. */
  #takeUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => {})
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    try {
      response.assignSocket(socket)
    } catch {
      // it came while the request in front of it was being answered
      socket.destroy()
      return
    }
    response.on('finish', () => socket.destroySoon())
    this.#upgrades.add(socket)
    this.#countUntilClosed(socket)
    socket.once('close', () => this.#upgrades.delete(socket))
    if (head.length > 0) socket.unshift(head)
    // without a reader its end would not be seen: a client that leaves before it is answered
    socket.on('readable', () => {
      if (socket.readableLength === 0) socket.read()
    })
    socket.once('end', () => {
      if (response.socket) socket.destroy()
    })
    this.#handle(request, response)
  }

  #answerUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
    const unread = answerUnread(error, socket, this.#responses.get(socket))
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

function createAnyServer(
  options: ServerOptions,
  tls: ListenerTls | undefined,
  handle: RequestListener,
): Server | TlsServer {
  if (tls === undefined) return createServer(options, handle)
  return createTlsServer(
    {
      ...options,
      ...toContext(tls),
      requestCert: tls.clientCa !== undefined,
      // streams are written straight to the response: no HTTP/2
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: 10_000,
    },
    handle,
  )
}

function toContext({ cert, key, clientCa }: ListenerTls): {
  cert: Buffer
  key: Buffer
  ca?: Buffer
  minVersion: 'TLSv1.2'
} {
  return { cert, key, minVersion: 'TLSv1.2', ...(clientCa === undefined ? {} : { ca: clientCa }) }
}
