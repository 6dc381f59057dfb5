import { type PageDetails, type PageUsage, toPageDetails } from '#engine-adapters/page-usage.ts'

/** Chosen so that nobody mistakes it for a model. */
export const modelName = 'reprise-emulator'

type FinishReason = 'stop' | 'length' | null

/** How answers of chat and text completions differ. */
export interface OpenAiFormat {
  readonly idPrefix: string
  readonly object: string
  readonly chunkObject: string
  choice(index: number, text: string, reason: FinishReason): object
  /** A chunk's choice before any text; undefined if the API has none. */
  opening(index: number): object | undefined
  piece(index: number, text: string, reason: FinishReason): object
  /** where the log probabilities of the prompt's tokens are: in the answer, or in each choice */
  scoredAnswer(scores: PromptScores): object
  scoredChoice(scores: PromptScores): object
}

type PromptScores = readonly (object | null)[] | undefined
const without = (): object => ({})
const withScores = (scores: PromptScores): object => (scores ? { prompt_logprobs: scores } : {})

export const chatFormat: OpenAiFormat = {
  idPrefix: 'chatcmpl-',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  choice: (index, content, finish_reason) => ({
    index,
    message: { role: 'assistant', content },
    logprobs: null,
    finish_reason,
  }),
  opening: (index) => ({ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }),
  piece: (index, content, finish_reason) => ({ index, delta: { content }, logprobs: null, finish_reason }),
  scoredAnswer: withScores,
  scoredChoice: without,
}

export const completionFormat: OpenAiFormat = {
  idPrefix: 'cmpl-',
  object: 'text_completion',
  chunkObject: 'text_completion',
  choice: (index, text, finish_reason) => ({ index, text, logprobs: null, finish_reason }),
  opening: () => undefined,
  piece: (index, text, finish_reason) => ({ index, text, logprobs: null, finish_reason }),
  scoredAnswer: without,
  scoredChoice: withScores,
}

export interface Usage {
  prompt_tokens: number
  total_tokens: number
  completion_tokens: number
  prompt_tokens_details: {
    cached_tokens: number
    reused_tokens?: number
    recomputed_tokens?: number
  } & Partial<PageDetails>
}

/** Token and page counts of prompts and answers. */
interface Counts {
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  /** the engine does not report zero */
  reusedTokens?: number | undefined
  recomputedTokens?: number | undefined
  /** undefined if every decode step reads its whole context */
  pages?: PageUsage | undefined
}

export function toUsage({ promptTokens, completionTokens, cachedTokens, pages, ...elsewhere }: Counts): Usage {
  const { reusedTokens, recomputedTokens } = elsewhere
  const reused = reusedTokens ? { reused_tokens: reusedTokens } : {}
  const recomputed = recomputedTokens ? { recomputed_tokens: recomputedTokens } : {}
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
    prompt_tokens_details: {
      cached_tokens: cachedTokens,
      ...reused,
      ...recomputed,
      ...(pages && toPageDetails(pages)),
    },
  }
}
