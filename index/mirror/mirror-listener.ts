import type { MirroredPrompt } from '../cache-event.ts'
import type { RequestId } from '../context-block.ts'

/** What is believed of one request. */
export interface MirroredBelief {
  readonly prompt: MirroredPrompt
  /** how many tokens a character took; undefined until the engine has counted */
  readonly tokensPerCharacter: number | undefined
  /** so many characters of the prompt are held, from its start */
  readonly heldLength: number
}

/** Hears of what changes the mirror, if it is not a `shared` event: whoever shares it tells others. */
export interface MirrorListener {
  /** Something else is believed of a request: it was sent just now, its tokens were counted, more or less of it is held. */
  changed(request: RequestId, what: 'sent' | 'counted' | 'held'): void
  /** A request is mirrored no longer; `at` as it was noted. */
  forgotten(request: RequestId, at: number): void
  /** The engine has told of a request that is not mirrored. */
  unknown(request: RequestId, cachedTokens: number): void
  /** Nothing is held any more but what is told of next; `cleared`: requests are forgotten, too. */
  reset(type: 'replaced' | 'cleared'): void
}
