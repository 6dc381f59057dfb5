import { expect, test } from 'vitest'
import { toChatBody } from './send-request.ts'

const settings = { model: 'm', maxTokens: 8, cacheSalt: undefined, hasLogProbabilities: false }

test('a body keeps its own salt if none is set, and asks for no log-probabilities if none are wanted', () => {
  const body = { messages: [], cache_salt: 'own', logprobs: true, top_logprobs: 2, prompt_logprobs: 1, stop: ['x'] }
  expect(toChatBody(body, settings)).toEqual({
    messages: [],
    cache_salt: 'own',
    stop: ['x'],
    model: 'm',
    max_tokens: 8,
    temperature: 0,
    n: 1,
    stream: true,
    stream_options: { include_usage: true },
  })
})
