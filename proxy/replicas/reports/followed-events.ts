import type { HeldTokens } from '#engine-adapters/kv-events/reported-cache.ts'
import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { AskedPrompt } from './token-asker.ts'

/** Links requests to the engine's own events. */
export interface FollowedEvents {
  /** Tokens in a block; 0 until the engine has reported it. */
  readonly blockSize: number
  /** Requests are being sent to the engine. */
  sent(requests: readonly RequestId[], prompts: readonly SentPrompt[]): void
  /** Sets the tokens of their prompts; undefined: they are unavailable. */
  learn(requests: readonly RequestId[], prompts: readonly AskedPrompt[] | undefined): void
  /** How many tokens of a running request the engine can serve from blocks it held before the request was sent. */
  countHeld(request: RequestId): HeldTokens
  /** The engine has answered that it reused KV at another position. */
  reused(): void
  /** Requests have ended. */
  ended(requests: readonly RequestId[]): void
  /** Nothing of these requests reached the engine's cache. */
  failed(requests: readonly RequestId[]): void
  close(): Promise<void>
}
