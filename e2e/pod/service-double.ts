import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { PodDouble } from './pod-double.ts'

/** How long it takes until every node knows that a pod has become ready or unready. */
const propagationMilliseconds = 1_000

/**
 * Stands in for a Service: forwards every connection to one of the pods known to be ready, and keeps it there. This
 * knowledge lags behind, as with kube-proxy.
 */
export class ServiceDouble {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #pods: readonly PodDouble[] = []
  #ports: readonly number[] = []
  #turn = 0

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<ServiceDouble> {
    const server = createServer()
    const service = new ServiceDouble(server)
    server.on('connection', (client: Socket) => service.#connect(client))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return service
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Must be called whenever a pod is added, is removed or changes. */
  async setPods(pods: readonly PodDouble[]): Promise<void> {
    this.#pods = pods
    await pause(propagationMilliseconds)
    this.#ports = this.#pods.filter(({ isReady }) => isReady).map((pod) => pod.portOf('http'))
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #connect(client: Socket): void {
    const port = this.#ports[this.#turn++ % this.#ports.length]
    if (port === undefined) {
      client.resetAndDestroy()
      return
    }
    const pod = connect({ port, host: '127.0.0.1', noDelay: true })
    for (const [one, other] of [
      [client, pod],
      [pod, client],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => other.resetAndDestroy())
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroySoon()
      })
      one.pipe(other)
    }
  }
}
