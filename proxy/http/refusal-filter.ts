import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import { readEngineError } from '#engine-adapters/read-error.ts'

/** The engine refused the request. Nothing of its answer was passed on, and it has computed nothing. */
export class RefusedError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`The engine refused the request with ${status}.`)
    this.status = status
  }
}

/** The statuses by which engines and what stands in front of them refuse what is in a body. */
const refusals = new Set([400, 413, 422])
/** The first event of a stream is looked at if it is within so many bytes. */
const longestFirstEvent = 4 * 1024
const EVENT_END = /\r?\n\r?\n|\r\r/
const DATA = /^data: ?/

type Controller = Dispatcher.DispatchController

/**
 * Passes an answer on to `next` unless it is a refusal, of which only the status is told, once it is complete. SGLang
 * refuses a streamed `/generate` with 200 and an event: with `readsEvents`, a stream is held back until its first event.
 */
export class RefusalFilter implements Dispatcher.DispatchHandler {
  readonly #next: Dispatcher.DispatchHandler
  readonly #onRefused: (status: number) => void
  readonly #readsEvents: boolean
  #refused: number | undefined
  /** passes on the head that is held back */
  #pass: (() => void) | undefined
  #held: Buffer = Buffer.alloc(0)

  constructor(next: Dispatcher.DispatchHandler, onRefused: (status: number) => void, readsEvents: boolean) {
    this.#next = next
    this.#onRefused = onRefused
    this.#readsEvents = readsEvents
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#next.onRequestStart?.(controller, context)
  }

  onRequestUpgrade(controller: Controller, status: number, headers: IncomingHttpHeaders, to: Duplex): void {
    this.#next.onRequestUpgrade?.(controller, status, headers, to)
  }

  onResponseStart(controller: Controller, status: number, headers: IncomingHttpHeaders, message?: string): void {
    const pass = (): void => this.#next.onResponseStart?.(controller, status, headers, message)
    const isPlainStream = headers['content-type']?.startsWith('text/event-stream') && !headers['content-encoding']
    if (refusals.has(status)) this.#refused = status
    else if (this.#readsEvents && status === 200 && isPlainStream) this.#pass = pass
    else pass()
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#refused !== undefined) return
    if (!this.#pass) {
      this.#next.onResponseData?.(controller, chunk)
      return
    }
    this.#held = Buffer.concat([this.#held, chunk])
    const [first, ...rest] = this.#held.toString().split(EVENT_END)
    if (rest.length === 0 && this.#held.length < longestFirstEvent) return
    this.#refused = rest.length > 0 ? refusalIn(first!) : undefined
    if (this.#refused === undefined) this.#release(controller)
  }

  onResponseEnd(controller: Controller, trailers: IncomingHttpHeaders): void {
    this.#end(controller, () => this.#next.onResponseEnd?.(controller, trailers))
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#end(controller, () => this.#next.onResponseError?.(controller, error))
  }

  #end(controller: Controller, passOn: () => void): void {
    if (this.#refused !== undefined) {
      this.#onRefused(this.#refused)
      return
    }
    this.#release(controller)
    passOn()
  }

  #release(controller: Controller): void {
    const held = this.#held
    this.#held = Buffer.alloc(0)
    this.#pass?.()
    this.#pass = undefined
    if (held.length > 0) this.#next.onResponseData?.(controller, held)
  }
}

/** Returns the status with which an event refuses the request; undefined if it does not. */
function refusalIn(event: string): number | undefined {
  const code = Number(readEngineError(event.replace(DATA, ''))?.code)
  return refusals.has(code) ? code : undefined
}
