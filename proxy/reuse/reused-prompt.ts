import type { SentPrompt } from '#index/cache-event.ts'
import type { ScopeId } from '#index/context-block.ts'
import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'

/** One context of a prompt as it is to be sent. */
export interface ReusedContext extends SentOrder {
  readonly found: PromptContext
  /** everything that stands in front of it, as sent */
  readonly scope: ScopeId
  /** where the search ended; empty when its turn was sent before, or nothing is shared */
  readonly searchPath: readonly number[]
  /** the most that one past request has in common with it, in characters; undefined: not known */
  readonly mostShared?: number | undefined
  /** where each of its blocks ends in the prompt as sent, in characters; by place */
  readonly ends: readonly number[]
}

/** A prompt as it is to be sent. */
export interface ReusedPrompt {
  readonly contexts: readonly ReusedContext[]
  readonly sent: SentPrompt
}

/** All prompts of a body as they are to be sent, and what must be remembered when they are. */
export interface ReusedBody {
  /** what is changed in the layout's texts, by place */
  readonly splices: readonly (readonly TextSplice[])[]
  readonly prompts: readonly ReusedPrompt[]
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
}
