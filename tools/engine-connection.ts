import { Agent, type Dispatcher } from 'undici'
import { type EngineTls, pathPrefixOf } from '#engine-adapters/engine-client.ts'
import { tryJson } from '#engine-adapters/json-object.ts'

/** An answer, or why there is none. */
export interface Reply {
  /** 0 if there is no answer */
  readonly status: number
  /** the answer's body, or what went wrong */
  readonly text: string
  /** undefined if the body is not JSON */
  readonly json: unknown
  readonly milliseconds: number
  readonly headers: Headers
  /** why there is no answer */
  readonly fault?: Fault
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

type Fault = 'refused' | 'unknown_host' | 'tls' | 'timeout' | 'broken'

interface ConnectionOptions {
  readonly token: string | undefined
  readonly tls?: EngineTls | undefined
  /** for each request; undefined: an engine may compute for minutes */
  readonly timeoutMilliseconds?: number
  /** aborts all requests */
  readonly signal: AbortSignal
  /** how many requests run at once */
  readonly connections?: number
}

/** A connection to an HTTP server, with a key and certificates. */
export class EngineConnection {
  readonly #origin: string
  readonly #prefix: string
  readonly #options: ConnectionOptions
  readonly #agent: Agent

  /** `url` as for `--engine`: with or without `/v1`. */
  constructor(url: string, options: ConnectionOptions) {
    const base = new URL(url)
    this.#origin = base.origin
    this.#prefix = pathPrefixOf(base)
    this.#options = options
    const { timeoutMilliseconds: timeout = connectMilliseconds, tls, connections = null } = options
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout, ...tls }, connections })
  }

  get(path: string, headers: Headers = {}): Promise<Reply> {
    return this.post(path, undefined, headers)
  }

  /** Posts JSON; a string is sent as it is. Rejects only when the signal aborts. */
  async post(path: string, body: unknown, headers: Headers = {}): Promise<Reply> {
    const { timeoutMilliseconds = connectMilliseconds, signal } = this.#options
    const started = performance.now()
    try {
      const answer = await this.send(path, body, { accept: 'application/json', ...headers })
      const text = await answer.body.text()
      const milliseconds = performance.now() - started
      return { status: answer.statusCode, text, json: tryJson(text), milliseconds, headers: answer.headers }
    } catch (error) {
      signal.throwIfAborted()
      const fault = toFault(error as Error, timeoutMilliseconds)
      return { status: 0, json: undefined, milliseconds: performance.now() - started, headers: {}, ...fault }
    }
  }

  /** Sends a request, a GET without a body, and returns its answer unread. */
  send(path: string, body: unknown, headers: Headers): Promise<Dispatcher.ResponseData> {
    const { token, timeoutMilliseconds, signal } = this.#options
    return this.#agent.request({
      origin: this.#origin,
      path: this.#prefix + path,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
      signal:
        timeoutMilliseconds === undefined
          ? signal
          : AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)]),
    })
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

const connectMilliseconds = 10_000

/** Whether a reply is an answer with a success status. */
export function isGood({ status }: Reply): boolean {
  return status >= 200 && status < 300
}

/** Says in words what a reply is that is not the one expected. */
export function describeReply({ status, text }: Reply): string {
  return status === 0 ? text : `answers ${status}`
}

/** Faults by the codes of errors of connections. */
const faults: readonly (readonly [RegExp, Fault])[] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EADDRNOTAVAIL)$/, 'refused'],
  [/^(ENOTFOUND|EAI_AGAIN|EAI_FAIL|EAI_NODATA)$/, 'unknown_host'],
  [/CERT|TLS|SSL|EPROTO|UNABLE_TO_(?:VERIFY|GET)/, 'tls'],
]

function toFault(
  error: Error & { code?: string },
  timeoutMilliseconds: number,
): Required<Pick<Reply, 'fault' | 'text'>> {
  const code = error.name === 'TimeoutError' ? 'ETIMEDOUT' : (error.code ?? '')
  const [, fault] = faults.find(([codes]) => codes.test(code)) ?? [undefined, 'broken' as const]
  if (fault === 'timeout') return { fault, text: `no answer within ${timeoutMilliseconds / 1000} s` }
  // one name with several addresses: each has its own error
  const inner = error instanceof AggregateError ? (error.errors[0] as Error | undefined) : undefined
  return { fault, text: (error.message || inner?.message || code).split('\n', 1)[0]!.trim() }
}
