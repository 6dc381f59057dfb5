import type { SentPrompt } from '#index/cache-event.ts'
import type { RequestId } from '#index/context-block.ts'
import type { AskedPrompt } from './token-asker.ts'

/** What the engine's own events tell of the requests that it was sent. */
export interface FollowedEvents {
  /** Tokens in a block; 0 until the engine has said so. */
  readonly blockSize: number
  /** Requests go to the engine. */
  sent(requests: readonly RequestId[], prompts: readonly SentPrompt[]): void
  /** What the tokens of their prompts are; undefined: they cannot be had. */
  learn(requests: readonly RequestId[], prompts: readonly AskedPrompt[] | undefined): void
  /** How many tokens of a request that runs the engine can serve from blocks that it had before it was sent. */
  countHeld(request: RequestId): number
  /** The engine has answered that it reused KV at another position. */
  reused(): void
  /** The engine has ended with requests. */
  ended(requests: readonly RequestId[]): void
  /** Nothing of requests reached the engine's cache. */
  failed(requests: readonly RequestId[]): void
  close(): Promise<void>
}
