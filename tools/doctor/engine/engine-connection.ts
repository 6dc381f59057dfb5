import { Agent, request } from 'undici'
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
  /** why there is no answer */
  readonly fault?: Fault
}

type Fault = 'refused' | 'unknown_host' | 'tls' | 'timeout' | 'broken'

/** The key, the certificates and the timeout of each request, and the signal that aborts all of them. */
interface ConnectionOptions {
  readonly token: string | undefined
  readonly tls?: EngineTls | undefined
  readonly timeoutMilliseconds: number
  readonly signal: AbortSignal
}

/** A connection to an HTTP server; no request takes longer than the timeout. */
export class EngineConnection {
  readonly #base: string
  readonly #options: ConnectionOptions
  readonly #agent: Agent

  /** `url` as for `--engine`: with or without `/v1`. */
  constructor(url: string, options: ConnectionOptions) {
    const base = new URL(url)
    this.#base = base.origin + pathPrefixOf(base)
    this.#options = options
    const { timeoutMilliseconds, tls } = options
    const connect = { timeout: timeoutMilliseconds, ...tls }
    this.#agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect })
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.#send('GET', path, headers)
  }

  post(path: string, body: unknown): Promise<Reply> {
    return this.#send('POST', path, { 'content-type': 'application/json' }, JSON.stringify(body))
  }

  close(): Promise<void> {
    return this.#agent.destroy()
  }

  /** Rejects only when the signal aborts. */
  async #send(method: 'GET' | 'POST', path: string, headers: object, body?: string): Promise<Reply> {
    const { token, timeoutMilliseconds, signal } = this.#options
    const started = performance.now()
    try {
      const response = await request(this.#base + path, {
        method,
        headers: {
          accept: 'application/json',
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: body ?? null,
        dispatcher: this.#agent,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)]),
      })
      const text = await response.body.text()
      return { status: response.statusCode, text, json: tryJson(text), milliseconds: performance.now() - started }
    } catch (error) {
      signal.throwIfAborted()
      const fault = toFault(error as Error, timeoutMilliseconds)
      return { status: 0, json: undefined, milliseconds: performance.now() - started, ...fault }
    }
  }
}

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
