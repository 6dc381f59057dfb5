import type { Context, RequestId, ScopeId } from './context-block.ts'
import type { Digests } from './digests.ts'

/** One context of a prompt as sent. */
export interface SentContext {
  readonly scope: ScopeId
  readonly blocks: Context
  /** the length of each block, in characters */
  readonly sizes: readonly number[]
  /** where each block ends in the prompt, in characters from its start */
  readonly ends: readonly number[]
}

/** A prompt as it went to the engine. Sizes are in characters (UTF-16 units): the engine's tokens are unknown to us. */
export interface SentPrompt {
  readonly contexts: readonly SentContext[]
  /** identities of the prompt's prefixes that end where a block begins or ends, shortest first */
  readonly prefixes: readonly ScopeId[]
  /** where each of these prefixes ends, in characters */
  readonly ends: readonly number[]
  readonly length: number
}

/** A prompt as a mirror keeps it. */
export interface MirroredPrompt extends Pick<SentPrompt, 'contexts' | 'ends' | 'length'> {
  /** of its prefixes the symbols (prefix-symbol.ts) */
  readonly symbols: readonly number[]
}

/** A prompt as another proxy has written it down. */
export interface SharedPrompt extends Omit<MirroredPrompt, 'contexts'> {
  readonly contexts: readonly SharedContext[]
}

/** One context of it: its blocks need no names to be looked up by. */
export interface SharedContext extends Omit<SentContext, 'blocks'> {
  readonly blocks: Context | Digests
}

/** What changes our belief about one replica's cache. */
export type CacheEvent =
  | { readonly type: 'sent'; readonly request: RequestId; readonly prompt: SentPrompt }
  /** the engine refused the request, or was never reached: nothing of it was cached */
  | { readonly type: 'failed'; readonly request: RequestId }
  | { readonly type: 'used'; readonly request: RequestId; readonly promptTokens: number }
  /** `cachedTokens`: length of the request's longest prefix that is still cached */
  | { readonly type: 'stored' | 'evicted'; readonly request: RequestId; readonly cachedTokens: number }
  /** `forgetsDemand`: what was asked for is forgotten as well, as after a start */
  | { readonly type: 'cleared'; readonly forgetsDemand?: true }
  /** what another proxy believes of a request; `prompt` counts where it is not mirrored here, without one it is left out */
  | {
      readonly type: 'shared'
      readonly request: RequestId
      readonly prompt?: SharedPrompt | undefined
      readonly heldLength: number
      readonly tokensPerCharacter: number | undefined
      /** when it was sent, as `CacheMirror.noteTime` notes it */
      readonly at: number
      /** so long ago that it says nothing about what is asked for now */
      readonly isLongPast?: boolean
    }
