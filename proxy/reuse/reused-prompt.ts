import type { SentPrompt } from '#index/cache-event.ts'
import type { ScopeId } from '#index/context-block.ts'
import type { SentOrder, SentTurn, TurnKey } from '#index/conversation-store.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import type { TextSplice } from '../prompt/body/text-splice.ts'

/** One context of a prompt as it is to be sent. */
export interface ReusedContext extends SentOrder {
  readonly found: PromptContext
  /** identifies everything before it, as sent */
  readonly scope: ScopeId
  /** where the search ended; empty if its turn was sent before, or if nothing is shared */
  readonly searchPath: readonly number[]
  /** where each of its blocks ends in the prompt as sent, in characters; by place */
  readonly ends: readonly number[]
}

/** A prompt as it is to be sent. */
export interface ReusedPrompt {
  readonly contexts: readonly ReusedContext[]
  readonly sent: SentPrompt
}

/** All prompts of a body as they are to be sent, and what must be remembered once they are. */
export interface ReusedBody {
  /** changes to the layout's texts, by index of the text */
  readonly splices: readonly (readonly TextSplice[])[]
  readonly prompts: readonly ReusedPrompt[]
  readonly turns: ReadonlyMap<TurnKey, SentTurn>
}
