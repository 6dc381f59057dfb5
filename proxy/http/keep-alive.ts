import type { ServerResponse } from 'node:http'
import { tryJson } from '#engine-adapters/json-object.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { anthropicTypeOf } from '../common/errors.ts'

const comment = ': keep-alive\n\n'

/**
 * Sends comment lines in an event stream while its request waits or its engine is silent, so that no intermediary takes
 * the connection for dead. Sends them only between two events, and never while the client still has data to read. If
 * the engine has not sent its head yet, the stream starts with our own; later errors are sent as its last event.
 */
export class KeepAlive {
  readonly #response: ServerResponse
  readonly #settleHead: () => Record<string, string>
  /** of what was sent */
  #end = ''
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
    this.#end = endOfStream(this.#end, bytes)
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #speak(): void {
    const response = this.#response
    if (response.destroyed || response.writableEnded) return
    this.#timer.refresh()
    if (!this.#isStream || !isBetweenEvents(this.#end) || response.writableNeedDrain) return
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

/** Returns the end of an event stream with a chunk behind the end before it, which is empty at first. */
export function endOfStream(before: string, chunk: Buffer): string {
  return (before + chunk.toString('latin1', Math.max(0, chunk.length - keptBytes))).slice(-keptBytes)
}

/** Whether a stream with this end is between two events, where a comment may be inserted. */
export function isBetweenEvents(end: string): boolean {
  return twoLineEnds.test(`\n\n${end}`)
}

/** Longer errors are cut off. */
export const longestError: number = 64 * 1024

/** Returns the event, in the API's format, that an error becomes if it arrives after a stream has been started. */
export function toErrorEvent(error: Buffer, api: PromptApi | undefined, status: number): Buffer {
  const body = error.toString()
  const name = api === 'messages' || api === 'responses' ? 'event: error\n' : ''
  return Buffer.from(`${name}data: ${toOneLine(body.slice(0, longestError), api, status)}\n\n`)
}

/** Returns JSON as it came but on one line; anything else becomes the message of an error. */
function toOneLine(body: string, api: PromptApi | undefined, status: number): string {
  // JSON strings contain no raw line breaks
  if (tryJson(body) !== undefined) return body.replaceAll(/[\r\n]+/g, ' ')
  if (api === 'messages')
    return JSON.stringify({ type: 'error', error: { type: anthropicTypeOf(status), message: body } })
  return JSON.stringify({ error: { message: body, type: 'engine_error', param: null, code: status } })
}
