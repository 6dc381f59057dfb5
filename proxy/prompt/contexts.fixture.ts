import type { PromptMessage } from './body/prompt.ts'
import type { PromptContext } from './body/prompt-context.ts'
import { searchMessage } from './find-contexts.ts'

/** Returns the contexts that `searchMessage` finds. */
export function findContexts(message: PromptMessage, texts: readonly string[]): PromptContext[] {
  return searchMessage(message, texts).contexts
}
