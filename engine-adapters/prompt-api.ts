/** The APIs whose prompts are read and rewritten (docs/contract.md). */
export const promptApis = ['chat_completions', 'completions', 'responses', 'messages', 'generate'] as const
export type PromptApi = (typeof promptApis)[number]
