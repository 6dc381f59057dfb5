import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { adapterFor } from '../adapter-for.ts'
import type { EngineKind } from '../engine-adapter.ts'
import type { TokenQuestion } from '../prompt-api.ts'
import type { AnswerScores, AskScores, ScoredAnswer } from './scored-prompt.ts'

/** An answer that a real engine scored, and all that it was asked (`lab/proof/record-exchanges.ts`). */
interface RecordedScore {
  readonly name: string
  readonly scored: ScoredAnswer
  readonly exchanges: readonly { readonly question: TokenQuestion; readonly answer: unknown }[]
  readonly score: { readonly tokens: readonly number[] }
}

const folder = join(import.meta.dirname, 'fixtures')
const engines = readdirSync(folder).map((file) => ({
  engine: file.replace(/\.json$/, ''),
  kind: file.split('-')[0] as EngineKind,
  cases: JSON.parse(readFileSync(join(folder, file), 'utf8')) as RecordedScore[],
}))

/** Answers as the engine did, if it is asked just what it was. */
function replay({ exchanges }: RecordedScore): AskScores {
  return async (question) => exchanges.find((one) => isSame(one.question, question))?.answer
}

function isSame(recorded: TokenQuestion, asked: TokenQuestion): boolean {
  return JSON.stringify(recorded) === JSON.stringify(asked)
}

describe.each(engines)('$engine', ({ kind, cases }) => {
  const score = (one: RecordedScore, ask: AskScores): Promise<AnswerScores> =>
    adapterFor(kind).scoreAnswer!(one.scored, ask)

  test.each(cases)('$name: is asked what it understands, and its answer is read', async (one) => {
    const score = await adapterFor(kind).scoreAnswer!(one.scored, replay(one))
    expect(score).toEqual(one.score.tokens)
    expect(score).toHaveLength(13)
    expect(score!.every((logprob) => logprob < 0)).toBe(true)
  })

  test.each(cases)('$name: keeps the cache salt, and generates one token at most', ({ exchanges, scored }) => {
    for (const { question } of exchanges.filter(({ question }) => question.path !== '/tokenize')) {
      expect(question.body.cache_salt).toBe(scored.members.cache_salt)
      const { max_tokens: tokens, sampling_params: sampling } = question.body as Record<string, unknown>
      expect(tokens ?? (sampling as { max_new_tokens: number }).max_new_tokens).toBe(1)
      expect(question.body).not.toHaveProperty('stream', true)
    }
  })

  test.each(cases)('$name: nothing is scored if the engine refuses, or says something else', async (one) => {
    for (const said of [undefined, {}, { tokens: [] }, { choices: [] }, { tokens: ['a'], choices: 1 }, null, [1]]) {
      expect(await score(one, async () => said)).toBeUndefined()
    }
  })
})

test('the engines agree on the model, and so do both ways of asking vLLM', () => {
  const scores = new Map(
    engines.flatMap(({ kind, cases }) => cases.map(({ name, score }) => [`${kind} ${name}`, score.tokens] as const)),
  )
  for (const name of ['chat', 'completion']) {
    const whole = scores.get(`vllm ${name}`)!
    for (const [i, logprob] of scores.get(`sglang ${name}`)!.entries()) expect(logprob).toBeCloseTo(whole[i]!, 0)
    for (const [i, logprob] of scores.get(`vllm ${name}, long`)!.entries()) {
      // of tokens that are not among the alternatives, only a bound is known
      if (logprob > -5) expect(logprob).toBeCloseTo(whole[i]!, 3)
      else expect(logprob).toBeGreaterThanOrEqual(whole[i]!)
    }
  }
})
