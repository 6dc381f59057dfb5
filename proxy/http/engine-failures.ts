import type { EngineClient } from '#engine-adapters/engine-client.ts'
import { ProxyError } from '../common/errors.ts'

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

  constructor({ url }: Pick<EngineClient, 'url'>, cause: Error & { readonly code?: unknown }, wasSent: boolean) {
    const code = cause.code ? String(cause.code) : ''
    // if a host name has several addresses, the error lists theirs and has no message itself
    const reason = cause.message || code || cause.name
    // clients must not learn the engines' addresses
    const told = code || reason.replaceAll(new URL(url).host, 'the engine')
    const remedy = tlsFault.test(code) ? 'check its certificate, and the tls settings of the engine.' : 'is it running?'
    super('engine_unreachable', `The engine did not answer (${told}): ${remedy}`, { cause })
    this.wasSent = wasSent
    this.reason = reason
  }
}

/** Node's codes for an untrusted certificate, and for a peer that does not speak TLS. */
const tlsFault = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO$)/
