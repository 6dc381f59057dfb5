import type { ServerResponse } from 'node:http'
import { EventBoundary } from '../answer/events/event-boundary.ts'

const comment = ': keep-alive\n\n'

/**
 * Sends comment lines in an event stream while its request waits or its engine is silent, so that no intermediary takes
 * the connection for dead. Sends them only between two events, and never while the client still has data to read. If
 * the engine has not sent its head yet, the stream starts with our own; later errors are sent as its last event.
 */
export class KeepAlive {
  readonly #response: ServerResponse
  readonly #describe: () => Record<string, string>
  readonly #boundary = new EventBoundary()
  readonly #timer: NodeJS.Timeout
  #isStream = true

  /** `describe`: our own headers for a head. */
  constructor(response: ServerResponse, milliseconds: number, describe: () => Record<string, string>) {
    this.#response = response
    this.#describe = describe
    this.#timer = setTimeout(() => this.#speak(), milliseconds)
  }

  /** The engine's head has arrived. `isStream`: an uncompressed event stream follows. */
  onHead(isStream: boolean): void {
    this.#isStream = isStream
    this.#timer.refresh()
  }

  /** These bytes were sent to the client. */
  onSent(bytes: Buffer): void {
    this.#boundary.push(bytes)
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #speak(): void {
    const response = this.#response
    if (response.destroyed || response.writableEnded) return
    this.#timer.refresh()
    if (!this.#isStream || !this.#boundary.isAtBoundary || response.writableNeedDrain) return
    if (!response.headersSent) {
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        ...this.#describe(),
      })
    }
    response.write(comment)
  }
}
