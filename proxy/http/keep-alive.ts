import type { ServerResponse } from 'node:http'

const comment = ': keep-alive\n\n'

/**
 * Sends comment lines in an event stream while its request waits or its engine is silent, so that no intermediary takes
 * the connection for dead. Sends them only between two events, and never while the client still has data to read. If
 * the engine has not sent its head yet, the stream starts with our own; later errors are sent as its last event.
 */
export class KeepAlive {
  readonly #response: ServerResponse
  readonly #settleHead: () => Record<string, string>
  readonly #boundary = new EventBoundary()
  readonly #timer: NodeJS.Timeout
  #isStream = true

  /** `settleHead`: returns our own headers; called when the head goes out. */
  constructor(response: ServerResponse, milliseconds: number, settleHead: () => Record<string, string>) {
    this.#response = response
    this.#settleHead = settleHead
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
        ...this.#settleHead(),
      })
    }
    response.write(comment)
  }
}

const twoLineEnds = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)$/
/** enough for two line ends */
const keptBytes = 4

/** Follows an event stream and says whether it is between two events, where a comment may be inserted. */
export class EventBoundary {
  /** the last bytes; begins as if after a blank line */
  #tail = '\n\n'

  push(chunk: Buffer): void {
    this.#tail = (this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - keptBytes))).slice(-keptBytes)
  }

  /** Whether nothing was sent yet, or a blank line was sent last. */
  get isAtBoundary(): boolean {
    return twoLineEnds.test(this.#tail)
  }
}
