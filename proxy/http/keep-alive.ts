import type { ServerResponse } from 'node:http'
import { EventBoundary } from '../answer/events/event-boundary.ts'

const comment = ': keep-alive\n\n'

/**
 * Comment lines in an event stream while its request waits or its engine is silent, so that nothing on the way takes the
 * connection for dead: only between two events, and never while the client still has to read. A stream whose engine has
 * not yet sent its head begins with a head of ours, and what goes wrong from then on is told as its last event.
 */
export class KeepAlive {
  readonly #response: ServerResponse
  readonly #describe: () => Record<string, string>
  readonly #boundary = new EventBoundary()
  readonly #timer: NodeJS.Timeout
  #isStream = true

  /** `describe`: the headers of ours that a head gets. */
  constructor(response: ServerResponse, milliseconds: number, describe: () => Record<string, string>) {
    this.#response = response
    this.#describe = describe
    this.#timer = setTimeout(() => this.#speak(), milliseconds)
  }

  /** The engine's head has come: whether what follows are events in plain text. */
  onHead(isStream: boolean): void {
    this.#isStream = isStream
    this.#timer.refresh()
  }

  /** Something was sent. */
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
