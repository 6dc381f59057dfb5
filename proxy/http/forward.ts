import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { EngineClient, EngineRequest } from '#engine-adapters/engine-client.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { readEngineError } from '#engine-adapters/read-error.ts'
import type { AnswerRewriter } from '../answer/answer-rewriter.ts'
import { RefusedError, toProxyError, UnreachableError } from '../common/errors.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import type { Leaving } from './bounds/client-left.ts'
import { withoutHopByHop, withRelativeLocations } from './forwarded-headers.ts'
import type { KeepAlive } from './keep-alive.ts'
import { longestError, toErrorEvent } from './keep-alive.ts'
import { switchProtocols } from './upgradable-request.ts'

/** Callbacks for an answer as it passes through. None may throw. */
export interface ForwardObserver {
  /** The request is being written to the engine, which may start on it. */
  onSent?(): void
  onHead(status: number, headers: IncomingHttpHeaders): void
  /** The head goes out now, and with it what was predicted. Returns our own headers. */
  settleHead(): Record<string, string>
  onChunk(chunk: Buffer): void
}

/** Where an answer goes, and how it is passed on. */
interface ForwardTarget {
  readonly response: ServerResponse
  readonly clientLeft: Leaving
  readonly observer: ForwardObserver
  /** the API whose error format is used for errors after the head has gone out */
  readonly api?: PromptApi | undefined
  /** the rewriter for an answer with this head, if it needs one */
  readonly rewriterFor?: (status: number, headers: IncomingHttpHeaders) => AnswerRewriter | undefined
  readonly keepAlive?: KeepAlive | undefined
  /** how long a head without data is held back so that our headers can say more; 0: it is sent at once */
  readonly headMilliseconds?: number | undefined
  /** rejects with a `RefusedError` if the engine refuses the request, by status or also by the first event of a stream */
  readonly refusals?: 'by_status' | 'by_event' | undefined
  /** ends the answer of a request whose body may still be arriving; without it the answer ends at once */
  readonly end?: (rest: Buffer | undefined) => void
}

/** Lengths and digests, which no longer match once the body is rewritten. */
const headersOfBytes = ['content-length', 'content-md5', 'content-digest', 'repr-digest', 'digest', 'etag']

/** The statuses by which engines and what stands in front of them refuse what is in a body. */
const refusals = new Set([400, 413, 422])
/** The first event of a stream is looked at if it is within so many bytes. */
const longestFirstEvent = 4 * 1024
const EVENT_END = /\r?\n\r?\n|\r\r/

const nothing = Buffer.alloc(0)

/**
 * Sends a request to the engine and its answer to the client, chunk by chunk, at the client's pace. Writes straight to
 * the Node response: web streams cost twice the CPU. If the client leaves, the engine's work is aborted. Rejects with
 * an UnreachableError if the engine fails before it starts to answer; our own comments may already have been sent.
 */
export function forward(engine: EngineClient, request: EngineRequest, to: ForwardTarget): Promise<ForwardOutcome> {
  if (to.clientLeft.aborted) return Promise.resolve('client_left')
  return new Promise((resolve, reject) => engine.send(request, new Forwarding(engine, to, { resolve, reject })))
}

interface Settling {
  resolve(outcome: ForwardOutcome): void
  reject(error: Error): void
}

class Forwarding implements Dispatcher.DispatchHandler {
  readonly #engine: EngineClient
  readonly #to: ForwardTarget
  readonly #response: ServerResponse
  readonly #promise: Settling
  #controller: Dispatcher.DispatchController | undefined
  #rewriter: AnswerRewriter | undefined
  /** the status of an error that becomes an event, and what has come of it */
  #lateStatus: number | undefined
  #lateError: Buffer = nothing
  #hasEngineHead = false
  /** the head and some of the body have been sent */
  #hasBegun = false
  /** writes the head that is held back */
  #head: (() => void) | undefined
  #headTimer: NodeJS.Timeout | undefined
  readonly #gathered: Buffer[] = []
  /** the status of a refusal, of whose answer nothing is passed on */
  #refused: number | undefined
  /** takes the head of a stream that may begin with a refusal, and what has come of that stream */
  #start: (() => void) | undefined
  #beginning: Buffer = nothing

  constructor(engine: EngineClient, to: ForwardTarget, promise: Settling) {
    this.#engine = engine
    this.#to = to
    this.#response = to.response
    this.#promise = promise
    to.clientLeft.addEventListener('abort', this.#onClientLeft)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#to.clientLeft.aborted) this.#onClientLeft()
    else this.#to.observer.onSent?.()
    this.#response.on('drain', this.#onDrain)
  }

  /** Called only if the request asked for an upgrade. */
  onRequestUpgrade(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders, to: Duplex): void {
    this.#stop()
    this.#to.observer.onHead(status, headers)
    // headers that cannot be passed on throw inside the promise
    const joined = new Promise<ForwardOutcome>((resolve) => resolve(switchProtocols(this.#response, headers, to)))
    void joined.then(this.#promise.resolve, (error: unknown) => {
      to.destroy()
      this.#promise.reject(toProxyError(error))
    })
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // informational: the final head follows
    if (status < 200 || this.#response.destroyed) return
    const isPlainStream = headers['content-type']?.startsWith('text/event-stream') && !headers['content-encoding']
    if (this.#to.refusals && refusals.has(status)) this.#refused = status
    else if (this.#to.refusals === 'by_event' && status === 200 && isPlainStream)
      this.#start = () => this.#startAnswer(status, headers)
    else this.#startAnswer(status, headers)
  }

  #startAnswer(status: number, headers: IncomingHttpHeaders): void {
    const response = this.#response
    this.#hasEngineHead = true
    this.#to.observer.onHead(status, headers)
    const isStream = (headers['content-type'] ?? '').startsWith('text/event-stream')
    // our own head may have been sent while the engine was silent
    if (response.headersSent && (status >= 300 || !isStream)) this.#lateStatus = status
    else this.#rewriter = this.#to.rewriterFor?.(status, headers)
    if (!response.headersSent) this.#takeHead(status, headers)
    this.#to.keepAlive?.onHead(isStream && headers['content-encoding'] === undefined)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#refused !== undefined) return
    if (!this.#start) {
      this.#take(chunk)
      return
    }
    this.#beginning = Buffer.concat([this.#beginning, chunk])
    const [first, ...rest] = this.#beginning.toString().split(EVENT_END)
    if (rest.length > 0) this.#refused = refusalIn(first!)
    if (this.#refused === undefined && (rest.length > 0 || this.#beginning.length >= longestFirstEvent))
      this.#passBeginning()
  }

  /** Data from one read goes out in one write: an engine that is ahead sends many events at once. */
  #take(chunk: Buffer): void {
    if (this.#gathered.push(chunk) === 1) queueMicrotask(this.#passOn)
  }

  #passBeginning(): void {
    this.#start?.()
    this.#start = undefined
    if (this.#beginning.length > 0) this.#take(this.#beginning)
    this.#beginning = nothing
  }

  onResponseEnd(_: Dispatcher.DispatchController, trailers: IncomingHttpHeaders = {}): void {
    if (this.#refused !== undefined) {
      this.#settle(new RefusedError(this.#refused))
      return
    }
    this.#passBeginning()
    this.#passOn()
    this.#writeHead()
    const rest =
      this.#lateStatus === undefined
        ? this.#rewriter?.end()
        : toErrorEvent(this.#lateError, this.#to.api, this.#lateStatus)
    this.#response.addTrailers(withoutHopByHop(trailers))
    if (this.#to.end) this.#to.end(rest)
    else this.#response.end(rest)
    this.#settle('finished')
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#to.clientLeft.aborted) return
    if (this.#refused !== undefined) {
      this.#settle(new RefusedError(this.#refused))
      return
    }
    this.#passBeginning()
    this.#passOn()
    if (!this.#hasEngineHead) {
      this.#settle(new UnreachableError(this.#engine, error, this.#controller !== undefined))
      return
    }
    this.#writeHead()
    const rest = this.#rewriter?.end()
    if (rest && rest.length > 0) this.#response.write(rest)
    // the client must receive everything we have, and see that the answer is incomplete
    setImmediate(() => this.#response.destroy())
    this.#settle('engine_broke_off')
  }

  #takeHead(status: number, headers: IncomingHttpHeaders): void {
    const passed = withRelativeLocations(withoutHopByHop(headers), this.#engine.url)
    if (this.#rewriter) for (const name of headersOfBytes) delete passed[name]
    if (!this.#to.headMilliseconds) {
      this.#response.writeHead(status, Object.assign(passed, this.#to.observer.settleHead()))
      // data that the engine sent along with its head goes out in the same write
      process.nextTick(this.#begin)
      return
    }
    // headers that cannot be passed on throw here, where that ends the engine's answer
    for (const [name, value] of Object.entries(passed)) this.#response.setHeader(name, value)
    this.#head = () => this.#response.writeHead(status, this.#to.observer.settleHead())
    this.#headTimer = setTimeout(this.#begin, this.#to.headMilliseconds)
  }

  readonly #begin = (): void => {
    this.#passOn()
    this.#writeHead()
    // flushHeaders would write the head as UTF-8 instead of the bytes that the engine sent
    if (!this.#hasBegun && !this.#response.writableEnded) this.#response.write(nothing)
  }

  #writeHead(): void {
    clearTimeout(this.#headTimer)
    if (!this.#response.headersSent) this.#head?.()
    this.#head = undefined
  }

  readonly #passOn = (): void => {
    if (this.#gathered.length === 0) return
    this.#writeHead()
    const received = this.#gathered.length === 1 ? this.#gathered[0]! : Buffer.concat(this.#gathered)
    this.#gathered.length = 0
    this.#to.observer.onChunk(received)
    if (this.#lateStatus !== undefined) {
      if (this.#lateError.length < longestError) this.#lateError = Buffer.concat([this.#lateError, received])
      return
    }
    const bytes = this.#rewriter ? this.#rewriter.push(received) : received
    if (bytes.length === 0) return
    this.#hasBegun = true
    if (!this.#response.write(bytes)) this.#controller?.pause()
    this.#to.keepAlive?.onSent(bytes)
  }

  readonly #onDrain = (): void => this.#controller?.resume()

  readonly #onClientLeft = (): void => {
    this.#controller?.abort(new Error('the client left'))
    this.#settle('client_left')
  }

  #settle(outcome: ForwardOutcome | Error): void {
    this.#stop()
    if (outcome instanceof Error) this.#promise.reject(outcome)
    else this.#promise.resolve(outcome)
  }

  #stop(): void {
    clearTimeout(this.#headTimer)
    this.#to.keepAlive?.stop()
    this.#to.clientLeft.removeEventListener('abort', this.#onClientLeft)
    this.#response.off('drain', this.#onDrain)
  }
}

/** SGLang refuses a streamed `/generate` with 200 and an event. Returns the status; undefined if it does not refuse. */
function refusalIn(event: string): number | undefined {
  const code = Number(readEngineError(event.replace(/^data: ?/, ''))?.code)
  return refusals.has(code) ? code : undefined
}
