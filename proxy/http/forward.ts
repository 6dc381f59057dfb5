import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { EngineClient, EngineRequest } from '#engine-adapters/engine-client.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import type { AnswerRewriter } from '../answer/answer-rewriter.ts'
import { ProxyError, toProxyError } from '../common/errors.ts'
import type { ForwardOutcome } from '../common/reasons.ts'
import type { Leaving } from './bounds/client-left.ts'
import { withoutHopByHop } from './forwarded-headers.ts'
import type { KeepAlive } from './keep-alive.ts'
import { LateError } from './late-error.ts'
import { RefusalFilter, RefusedError } from './refusal-filter.ts'
import { withRelativeLocations } from './relative-location.ts'
import { switchProtocols } from './switch-protocols.ts'

/** Callbacks for an answer as it passes through. None may throw. */
export interface ForwardObserver {
  /** The request is being written to the engine, which may start on it. */
  onSent?(): void
  onHead(status: number, headers: IncomingHttpHeaders): void
  /** The head goes out now, and with it what was predicted. Returns our own headers. */
  settleHead(): Record<string, string>
  onChunk(chunk: Buffer): void
}

/** How an answer is passed on. */
interface ForwardOptions {
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

/** The engine could not be reached, or closed the connection before the head of its answer. */
export class UnreachableError extends ProxyError {
  /** whether anything was written to the engine: only then can it have started */
  readonly wasSent: boolean
  /** the cause, human-readable */
  readonly reason: string

  constructor(engine: EngineClient, cause: Error, wasSent: boolean) {
    const reason = reasonOf(cause)
    // clients must not learn the engines' addresses
    const told = 'code' in cause && cause.code ? String(cause.code) : withoutAddress(reason, engine)
    super('engine_unreachable', `The engine did not answer (${told}): ${remedyOf(cause)}`, { cause })
    this.wasSent = wasSent
    this.reason = reason
  }
}

/** Lengths and digests, which no longer match once the body is rewritten. */
const headersOfBytes = ['content-length', 'content-md5', 'content-digest', 'repr-digest', 'digest', 'etag']

const nothing = Buffer.alloc(0)

/**
 * Sends a request to the engine and its answer to the client, chunk by chunk, at the client's pace. Writes straight to
 * the Node response: web streams cost twice the CPU. If the client leaves, the engine's work is aborted. Rejects with
 * an UnreachableError if the engine fails before it starts to answer; our own comments may already have been sent.
 */
export function forward(
  engine: EngineClient,
  request: EngineRequest,
  response: ServerResponse,
  clientLeft: Leaving,
  observer: ForwardObserver,
  options: ForwardOptions = {},
): Promise<ForwardOutcome> {
  if (clientLeft.aborted) return Promise.resolve('client_left')
  return new Promise((resolve, reject) => {
    const forwarding = new Forwarding(engine, response, clientLeft, observer, options, resolve, reject)
    const { refusals } = options
    const refuse = (status: number): void => forwarding.refuse(status)
    engine.send(request, refusals ? new RefusalFilter(forwarding, refuse, refusals === 'by_event') : forwarding)
  })
}

class Forwarding implements Dispatcher.DispatchHandler {
  readonly #engine: EngineClient
  readonly #response: ServerResponse
  readonly #clientLeft: Leaving
  readonly #observer: ForwardObserver
  readonly #options: ForwardOptions
  readonly #resolve: (outcome: ForwardOutcome) => void
  readonly #reject: (error: ProxyError | RefusedError) => void
  #controller: Dispatcher.DispatchController | undefined
  #rewriter: AnswerRewriter | undefined
  #lateError: LateError | undefined
  #hasEngineHead = false
  /** the head and some of the body have been sent */
  #hasBegun = false
  /** writes the head that is held back */
  #head: (() => void) | undefined
  #headTimer: NodeJS.Timeout | undefined
  readonly #gathered: Buffer[] = []

  constructor(
    engine: EngineClient,
    response: ServerResponse,
    clientLeft: Leaving,
    observer: ForwardObserver,
    options: ForwardOptions,
    resolve: (outcome: ForwardOutcome) => void,
    reject: (error: ProxyError | RefusedError) => void,
  ) {
    this.#engine = engine
    this.#response = response
    this.#clientLeft = clientLeft
    this.#observer = observer
    this.#options = options
    this.#resolve = resolve
    this.#reject = reject
    clientLeft.addEventListener('abort', this.#onClientLeft)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#clientLeft.aborted) this.#onClientLeft()
    else this.#observer.onSent?.()
    this.#response.on('drain', this.#onDrain)
  }

  /** Called only if the request asked for an upgrade. */
  onRequestUpgrade(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders, to: Duplex): void {
    this.#stop()
    this.#observer.onHead(status, headers)
    // headers that cannot be passed on throw inside the promise
    const joined = new Promise<ForwardOutcome>((resolve) => resolve(switchProtocols(this.#response, headers, to)))
    void joined.then(this.#resolve, (error: unknown) => {
      to.destroy()
      this.#reject(toProxyError(error))
    })
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    const response = this.#response
    // informational: the final head follows
    if (status < 200 || response.destroyed) return
    this.#hasEngineHead = true
    this.#observer.onHead(status, headers)
    const isStream = (headers['content-type'] ?? '').startsWith('text/event-stream')
    // our own head may have been sent while the engine was silent
    const isLateError = response.headersSent && (status >= 300 || !isStream)
    if (isLateError) this.#lateError = new LateError(this.#options.api, status)
    else this.#rewriter = this.#options.rewriterFor?.(status, headers)
    if (!response.headersSent) this.#takeHead(status, headers)
    this.#options.keepAlive?.onHead(isStream && headers['content-encoding'] === undefined)
  }

  /** Data from one read goes out in one write: an engine that is ahead sends many events at once. */
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#gathered.push(chunk) === 1) queueMicrotask(this.#passOn)
  }

  onResponseEnd(_: Dispatcher.DispatchController, trailers: IncomingHttpHeaders = {}): void {
    this.#passOn()
    this.#writeHead()
    const rest = this.#lateError?.end() ?? this.#rewriter?.end()
    this.#response.addTrailers(withoutHopByHop(trailers))
    if (this.#options.end) this.#options.end(rest)
    else this.#response.end(rest)
    this.#settle('finished')
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#clientLeft.aborted) return
    this.#passOn()
    if (!this.#hasEngineHead) {
      this.#stop()
      this.#reject(new UnreachableError(this.#engine, error, this.#controller !== undefined))
      return
    }
    this.#writeHead()
    const rest = this.#rewriter?.end()
    if (rest && rest.length > 0) this.#response.write(rest)
    // the client must receive everything we have, and see that the answer is incomplete
    setImmediate(() => this.#response.destroy())
    this.#settle('engine_broke_off')
  }

  /** The request can be sent in another form: nothing of this answer is passed on. */
  refuse(status: number): void {
    this.#stop()
    this.#reject(new RefusedError(status))
  }

  #takeHead(status: number, headers: IncomingHttpHeaders): void {
    const passed = withRelativeLocations(withoutHopByHop(headers), this.#engine.url)
    if (this.#rewriter) for (const name of headersOfBytes) delete passed[name]
    if (!this.#options.headMilliseconds) {
      this.#response.writeHead(status, Object.assign(passed, this.#observer.settleHead()))
      // data that the engine sent along with its head goes out in the same write
      process.nextTick(this.#begin)
      return
    }
    // headers that cannot be passed on throw here, where that ends the engine's answer
    for (const [name, value] of Object.entries(passed)) this.#response.setHeader(name, value)
    this.#head = () => this.#response.writeHead(status, this.#observer.settleHead())
    this.#headTimer = setTimeout(this.#begin, this.#options.headMilliseconds)
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
    this.#observer.onChunk(received)
    if (this.#lateError) {
      this.#lateError.push(received)
      return
    }
    const bytes = this.#rewriter ? this.#rewriter.push(received) : received
    if (bytes.length === 0) return
    this.#hasBegun = true
    if (!this.#response.write(bytes)) this.#controller?.pause()
    this.#options.keepAlive?.onSent(bytes)
  }

  readonly #onDrain = (): void => this.#controller?.resume()

  readonly #onClientLeft = (): void => {
    this.#controller?.abort(new Error('the client left'))
    this.#settle('client_left')
  }

  #settle(outcome: ForwardOutcome): void {
    this.#stop()
    this.#resolve(outcome)
  }

  #stop(): void {
    clearTimeout(this.#headTimer)
    this.#options.keepAlive?.stop()
    this.#clientLeft.removeEventListener('abort', this.#onClientLeft)
    this.#response.off('drain', this.#onDrain)
  }
}

/** If a host name has several addresses, the error lists theirs and has no message itself. */
function reasonOf(error: Error): string {
  return error.message || ('code' in error ? String(error.code) : error.name)
}

function withoutAddress(reason: string, { url }: EngineClient): string {
  return reason.replaceAll(new URL(url).host, 'the engine')
}

/** Node's codes for an untrusted certificate, and for a peer that does not speak TLS. */
const tlsFault = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO$)/

function remedyOf(error: Error): string {
  const isTls = 'code' in error && tlsFault.test(String(error.code))
  return isTls ? 'check its certificate, and the tls settings of the engine.' : 'is it running?'
}
