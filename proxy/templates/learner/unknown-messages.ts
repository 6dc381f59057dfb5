import type { PromptMessage, PromptSet } from '../../prompt/body/prompt.ts'
import type { PromptContext } from '../../prompt/body/prompt-context.ts'

/** Returns the messages since the last answer, each of one text, in which nothing was found. */
export function unknownMessages(
  { prompts }: PromptSet,
  texts: readonly string[],
  contexts: readonly Pick<PromptContext, 'slots' | 'isResult'>[],
): { readonly message: PromptMessage; readonly text: string }[] {
  const lists = contexts.filter(({ isResult }) => !isResult)
  const known = new Set(lists.flatMap(({ slots }) => slots.map(({ text }) => text)))
  return prompts.flatMap(({ messages }) =>
    messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).flatMap((message) => {
      const [text, ...others] = message.texts
      if (text === undefined || others.length > 0 || known.has(text) || message.role === 'documents') return []
      return [{ message, text: texts[text]! }]
    }),
  )
}
