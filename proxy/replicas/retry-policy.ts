import { ProxyError } from '../common/errors.ts'

/** How one attempt at a request failed, of which the client has received at most our own comments. */
export interface FailedAttempt {
  /** undici's error, or our own error with undici's as its cause */
  readonly error: unknown
  /** whether writing the request to a connection had begun: undici has called `onRequestStart` */
  readonly wasSent: boolean
}

/** The attempts made for a request so far. */
interface Attempts {
  /** attempts made, including the failed one */
  readonly made: number
  /** whether a replica was tried a second time */
  readonly hasRepeated: boolean
  /** whether there is an untried replica */
  readonly hasOther: boolean
}

/** Where to try again, and how long to wait first. */
type Retry =
  | { readonly on: 'other'; readonly pauseMilliseconds: 0 }
  | { readonly on: 'same'; readonly pauseMilliseconds: number }

/** The maximum number of attempts for a request, over all replicas. */
export const mostAttempts = 3
/** Long enough for a server to listen again after its port was handed over, short enough to wait for. */
const pauseMilliseconds = 200

/**
 * Decides whether and where to retry a request. Only if the engine cannot have started: no connection was made, so
 * nothing was written. The error alone is not enough: ECONNRESET can mean a connection refused late or one reset after
 * the body. Retries at once on another replica, or, without one, once on the same; never twice at the same time.
 */
export function decideRetry(failed: FailedAttempt, attempts: Attempts): Retry | undefined {
  const code = codeOf(failed.error)
  if (failed.wasSent || attempts.made >= mostAttempts || !isFailureToConnect(code)) return undefined
  if (attempts.hasOther) return { on: 'other', pauseMilliseconds: 0 }
  // a request that waited for a connection in vain has waited long enough
  if (attempts.hasRepeated || isTimeout(code)) return undefined
  return { on: 'same', pauseMilliseconds }
}

/** System, DNS and TLS errors all have codes. Of undici's own errors only the timeout is a failure to connect. */
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
