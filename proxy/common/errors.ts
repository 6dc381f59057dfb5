import type { EngineClient } from '#engine-adapters/engine-client.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'

/** Every error of the proxy, with its status. The engine's own errors are passed on and are not in this table. */
export const statusOf = {
  invalid_body: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  body_too_slow: 408,
  body_too_large: 413,
  queue_full: 429,
  rate_limited: 429,
  internal_error: 500,
  engine_unreachable: 502,
  draining: 503,
  deadline_exceeded: 504,
  loop_detected: 508,
} as const

export type ErrorCode = keyof typeof statusOf

/** Anthropic's words for a status; others are an `api_error` or an `invalid_request_error`. */
const anthropicTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** An answer of the proxy instead of the engine's. The message says what was wrong and what to do, in one line. */
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

  /** The body in the error format of the called API: Anthropic's for Messages, otherwise OpenAI's. */
  toBody(api?: PromptApi): string {
    const { message, code, status } = this
    if (api === 'messages') {
      return JSON.stringify({ type: 'error', error: { type: anthropicTypeOf(status), message, code } })
    }
    const type = status >= 500 ? 'server_error' : 'invalid_request_error'
    return JSON.stringify({ error: { message, type, param: null, code } })
  }
}

export function anthropicTypeOf(status: number): string {
  return anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** The error to answer with: anything but a ProxyError becomes an `internal_error`. */
export function toProxyError(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error
  return new ProxyError('internal_error', 'The proxy failed.', { cause: error })
}

/** Thrown for settings or files that cannot be used. The message has a line for each fault, with what to write instead. */
export class ConfigError extends Error {
  /** 2 if the command line is at fault */
  readonly exitCode: 1 | 2

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Returns whether a file or socket failed, or what a file holds cannot be unpacked, and not the code. */
export function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error
}

/** Returns a ConfigError with the name of a file for a fault of reading or unpacking it, and any other as it is. */
export function ofFile(file: string, error: unknown): unknown {
  return isSystemError(error) ? new ConfigError(`${file} cannot be read: ${error.message}`) : error
}

/** The engine refused the request. Nothing of its answer was passed on, and it has computed nothing. */
export class RefusedError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`The engine refused the request with ${status}.`)
    this.status = status
  }
}

/** The engine could not be reached, or closed the connection before the head of its answer. */
export class UnreachableError extends ProxyError {
  /** whether anything was written to the engine: only then can it have started */
  readonly wasSent: boolean
  /** the cause, human-readable */
  readonly reason: string
  /** the proxy had no file descriptor left */
  readonly isOurs: boolean

  constructor({ url }: Pick<EngineClient, 'url'>, cause: Error & { readonly code?: unknown }, wasSent: boolean) {
    const code = cause.code ? String(cause.code) : ''
    // if a host name has several addresses, the error lists theirs and has no message itself
    const reason = cause.message || code || cause.name
    // clients must not learn the engines' addresses
    const told = code || reason.replaceAll(new URL(url).host, 'the engine')
    super('engine_unreachable', `The engine did not answer (${told}): ${remedyFor(code)}`, { cause })
    this.wasSent = wasSent
    this.reason = reason
    this.isOurs = noDescriptor.test(code)
  }
}

/** Node's codes for an untrusted certificate, and for a peer that does not speak TLS. */
const tlsFault = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO$)/
/** Node's codes for a process, and a machine, whose file descriptors are all in use. */
const noDescriptor = /^E[MN]FILE$/

function remedyFor(code: string): string {
  if (noDescriptor.test(code)) return 'the proxy has no file descriptor left: raise its limit (ulimit -n).'
  return tlsFault.test(code) ? 'check its certificate, and the tls settings of the engine.' : 'is it running?'
}
