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

/** Members of a request's body. */
export type BodyMembers = Readonly<Record<string, unknown>>

/** A request to the engine about a prompt: its tokens, or how likely they are. */
export interface TokenQuestion {
  readonly path: string
  readonly body: BodyMembers
}

/** Members without influence on a prompt's tokens, and members that a question for tokens must not have. */
const besidePrompt = new Set(
  'rid request_id stream stream_options temperature top_p top_k min_p seed n best_of max_tokens max_completion_tokens max_output_tokens min_tokens stop logprobs top_logprobs prompt_logprobs presence_penalty frequency_penalty repetition_penalty user metadata store sampling_params cache_salt priority bootstrap_host bootstrap_port bootstrap_room return_logprob logprob_start_len top_logprobs_num token_ids_logprob return_hidden_states'.split(
    ' ',
  ),
)

/** The members of a body that determine its prompt. */
export function promptOnly(members: BodyMembers): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !besidePrompt.has(name)))
}
