/** The APIs whose prompts are read and rewritten (CONTRACT §3). */
export const promptApis = ['chat_completions', 'completions', 'responses', 'messages', 'generate'] as const
export type PromptApi = (typeof promptApis)[number]
