import type { PromptMessage } from './body/prompt.ts'
import type { PromptContext } from './body/prompt-context.ts'
import { type PatternLists, searchMessage } from './find-contexts.ts'

/** Returns the contexts that `searchMessage` finds. */
export function findContexts(
  message: PromptMessage,
  texts: readonly string[],
  patternLists?: PatternLists,
): PromptContext[] {
  return searchMessage(message, texts, patternLists).contexts
}
