/** The APIs whose prompts are read and rewritten (docs/contract.md). */
export const promptApis = ['chat_completions', 'completions', 'responses', 'messages', 'generate'] as const
export type PromptApi = (typeof promptApis)[number]

/** The path of each API. */
export const promptPaths: Readonly<Record<PromptApi, string>> = {
  chat_completions: '/v1/chat/completions',
  completions: '/v1/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate: '/generate',
}
