import { ProxyError } from '../errors.ts'

/** How one attempt to have a request answered failed. */
export interface FailedAttempt {
  /** undici's error, or ours with it as its cause */
  readonly error: unknown
  /** whether writing the request to a connection had begun: undici has called `onRequestStart` */
  readonly wasSent: boolean
  /** whether anything of an answer has gone to the client; comments of ours are none */
  readonly isAnswered: boolean
  /** whether the body is at hand to be sent again; a stream is used up */
  readonly isRepeatable: boolean
}

/** What has been tried for the request. */
export interface Attempts {
  /** attempts made, the failed one included */
  readonly made: number
  /** whether a replica was tried a second time */
  readonly hasRepeated: boolean
  /** whether there is a replica that was not tried */
  readonly hasOther: boolean
}

/** Where to try again, and how long to wait before. */
export type Retry =
  | { readonly on: 'other'; readonly pauseMilliseconds: 0 }
  | { readonly on: 'same'; readonly pauseMilliseconds: number }

/** Attempts that a request may take, on all replicas together. */
export const mostAttempts = 3
/** Long enough for a server to be listening again whose port was handed over, short enough to wait for. */
const pauseMilliseconds = 200

/**
 * Whether a request may be tried again, and where. Only when the engine cannot have started: no connection was made, so
 * nothing was written. The error alone does not tell: ECONNRESET is a connection refused late as well as one broken off
 * behind the body. On another replica at once, or, without one, once more on the same; never twice at the same time.
 */
export function decideRetry(failed: FailedAttempt, attempts: Attempts): Retry | undefined {
  const code = codeOf(failed.error)
  const mayBeRepeated = !failed.wasSent && !failed.isAnswered && failed.isRepeatable
  if (!mayBeRepeated || attempts.made >= mostAttempts || !isFailureToConnect(code)) return undefined
  if (attempts.hasOther) return { on: 'other', pauseMilliseconds: 0 }
  // who waited for a connection in vain has waited long enough
  if (attempts.hasRepeated || isTimeout(code)) return undefined
  return { on: 'same', pauseMilliseconds }
}

/** Errors of the system, of name resolution and of TLS all have codes; undici's own are of another making but for one. */
function isFailureToConnect(code: string | undefined): boolean {
  return code !== undefined && (!code.startsWith('UND_ERR_') || isTimeout(code))
}

function isTimeout(code: string | undefined): boolean {
  return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT'
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof ProxyError ? error.cause : error
  if (!(cause instanceof Error)) return undefined
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}
