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
