import type { UnreachableError } from '../common/errors.ts'

/** How one attempt at a request failed, of which the client has received at most our own comments: undici's error. */
export type FailedAttempt = Pick<UnreachableError, 'cause' | 'wasSent'>

/** The attempts made for a request so far. */
interface Attempts {
  /** attempts made, including the failed one */
  readonly made: number
  /** whether a replica was tried a second time */
  readonly hasRepeated: boolean
  /** whether there is an untried replica */
  readonly hasOther: boolean
}

/** The maximum number of attempts for a request, over all replicas. */
export const mostAttempts = 3
/**
 * How long to wait before a request is tried again on another replica, or on the same: long enough for a server to listen
 * again after its port was handed over. In milliseconds.
 */
export const retryPauses = { other: 0, same: 200 } as const

/**
 * Decides whether and where to retry a request. Only if the engine cannot have started: no connection was made, so
 * nothing was written. The error alone is not enough: ECONNRESET can mean a connection refused late or one reset after
 * the body. Retries at once on another replica, or, without one, once on the same; never twice at the same time.
 */
export function decideRetry(
  { cause, wasSent }: FailedAttempt,
  attempts: Attempts,
): keyof typeof retryPauses | undefined {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  if (wasSent || attempts.made >= mostAttempts || !isFailureToConnect(code)) return undefined
  if (attempts.hasOther) return 'other'
  // a request that waited for a connection in vain has waited long enough
  return attempts.hasRepeated || isTimeout(code) ? undefined : 'same'
}

/** System, DNS and TLS errors all have codes. Of undici's own errors only the timeout is a failure to connect. */
function isFailureToConnect(code: unknown): boolean {
  return typeof code === 'string' && (!code.startsWith('UND_ERR_') || isTimeout(code))
}

function isTimeout(code: unknown): boolean {
  return code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT'
}
