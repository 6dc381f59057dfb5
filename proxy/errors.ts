/** Every error of ours, with its status. The engine's own errors are passed on and are not in this table. */
const statusOf = {
  invalid_body: 400,
  unauthorized: 401,
  not_found: 404,
  body_too_large: 413,
  queue_full: 429,
  internal_error: 500,
  engine_unreachable: 502,
  draining: 503,
} as const

export type ErrorCode = keyof typeof statusOf

/** An answer of ours in place of the engine's. The message says what was wrong and what to do, in one line. */
export class ProxyError extends Error {
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, options: { headers?: Record<string, string>; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'ProxyError'
    this.code = code
    this.headers = options.headers ?? {}
  }

  get status(): (typeof statusOf)[ErrorCode] {
    return statusOf[this.code]
  }

  /** The body in OpenAI's error shape. */
  toBody(): string {
    const type = this.status >= 500 ? 'server_error' : 'invalid_request_error'
    return JSON.stringify({ error: { message: this.message, type, param: null, code: this.code } })
  }
}

/** The error to answer with: what is not ours to explain is an `internal_error`. */
export function toProxyError(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error
  return new ProxyError('internal_error', 'The proxy failed.', { cause: error })
}
