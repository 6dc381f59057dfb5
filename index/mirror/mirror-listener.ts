import type { MirroredPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'

/** What is believed about one request. */
export interface MirroredBelief {
  readonly prompt: MirroredPrompt
  /** undefined until the engine has counted the tokens */
  readonly tokensPerCharacter: number | undefined
  /** length of the held prefix, in characters */
  readonly heldLength: number
}

/** How much of one request is believed to be cached. */
export interface BelievedRequest {
  readonly request: RequestId
  /** length of the cached prefix of the prompt, in characters */
  readonly cachedLength: number
  readonly tokensPerCharacter: number
}

/**
 * Notified of changes to a mirror, to share them with other proxies. It must ignore those that `shared` events cause.
 */
export interface MirrorListener {
  /** A belief changed: the request was sent, its tokens were counted, or more or less of it is held. */
  changed(request: RequestId, what: 'sent' | 'counted' | 'held'): void
  /** A request is no longer mirrored. */
  forgotten(request: RequestId): void
  /** The engine reported a request that is not mirrored. */
  unknown(request: RequestId, cachedTokens: number): void
  /** Nothing counts as cached until reported again. `cleared`: what was shared about requests is void, too. */
  reset(type: 'replaced' | 'cleared'): void
}
