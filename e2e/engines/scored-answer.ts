import { request } from 'undici'
import { expect } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from '../demo/prompt.ts'
import type { Turn } from '../demo/workload.ts'
import { modelName } from './engine.ts'

/** Two tokens may be equally likely except for rounding, which depends on what is computed together. */
const tie = 1e-3

/** An answer with the log probability of each token. */
export interface ScoredAnswer {
  readonly tokens: readonly string[]
  readonly logprobs: readonly number[]
  readonly promptTokens: number
  /** tokens of the prompt that were reused at any position */
  readonly reused: number
  /** the engine's name in the proxy */
  readonly replica: string
}

/** Asks a turn as it is, through a proxy, with options for its header. Rejects if there is no answer. */
export async function askScored(url: string, turn: Turn, options: string, tenant = 'everybody'): Promise<ScoredAnswer> {
  const { statusCode, headers, body } = await request(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${tenant}`,
      'x-reprise-options': ['reorder=off,dedup=off', options].filter(Boolean).join(),
    },
    body: JSON.stringify({
      model: modelName,
      max_tokens: 9,
      temperature: 0,
      logprobs: true,
      messages: [SYSTEM_MESSAGE, toUserMessage({ ...turn, isPlain: true })],
    }),
  })
  const text = await body.text()
  expect(statusCode, text).toBe(200)
  const { choices, usage } = JSON.parse(text)
  const content: { token: string; logprob: number }[] = choices[0].logprobs.content
  return {
    tokens: content.map(({ token }) => token),
    logprobs: content.map(({ logprob }) => logprob),
    promptTokens: usage.prompt_tokens,
    reused: usage.prompt_tokens_details?.reused_tokens ?? 0,
    replica: String(headers['x-reprise-replica']),
  }
}

/** Expects the same answer, up to the first of two tokens that are equally likely. */
export function expectSameScores(answer: ScoredAnswer, expected: ScoredAnswer, label: string): void {
  const { tokens, logprobs } = expected
  const parted = tokens.findIndex((token, at) => token !== answer.tokens[at])
  const compared = parted < 0 ? tokens.length : parted + 1
  for (let at = 0; at < compared; at += 1)
    expect(Math.abs(logprobs[at]! - answer.logprobs[at]!), `${label}, token ${at}`).toBeLessThan(tie)
}
