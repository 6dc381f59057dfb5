import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ConfigError } from './config.ts'

/** A listening HTTP server that can end what is in flight. */
export class Listener {
  readonly #server: Server
  #inFlight = 0
  /** set while closing */
  #onIdle: (() => void) | undefined

  /** `uploadSeconds`: how long a client may take to send its request; answers take as long as they take. */
  constructor(handle: RequestListener, uploadSeconds: number) {
    const options = {
      requestTimeout: uploadSeconds * 1000,
      connectionsCheckingInterval: 1_000,
      // idle connections outlive a load balancer's
      keepAliveTimeout: 75_000,
      noDelay: true,
    }
    this.#server = createServer(options, (request, response) => {
      this.#inFlight += 1
      response.on('close', () => {
        this.#inFlight -= 1
        if (this.#inFlight === 0) this.#onIdle?.()
      })
      handle(request, response)
    })
  }

  /** Rejects with a ConfigError when the address cannot be used. */
  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(new ConfigError(`Cannot listen on ${host}:${port}: ${error.message}.`)),
      )
      this.#server.listen(port, host, resolve)
    })
  }

  get url(): string {
    const { address, port, family } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
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
      }
      const cutOff = setTimeout(end, graceMilliseconds)
      this.#onIdle = end
      if (this.#inFlight === 0) end()
    })
  }
}
