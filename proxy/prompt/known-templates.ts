import type { PromptMessage } from './body/prompt.ts'
import type { ContextList } from './context-list.ts'

/** Templates whose lists are cut by their literals, without reading the rest of a prompt. */
export interface KnownTemplates {
  /** Returns the one list of a message, given as one text; undefined if no known template wrote it. */
  cut(message: PromptMessage, whole: string): ContextList | undefined
  /** Learns what was found in a message that was not cut. */
  learn(message: PromptMessage, whole: string, lists: readonly ContextList[]): void
}
