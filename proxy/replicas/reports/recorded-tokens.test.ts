import { describe, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { PromptApi } from '#engine-adapters/prompt-api.ts'
import { findExchange, isComplete, readRecordings } from '#engine-adapters/recorder/read-recorded.fixture.ts'
import { readTokens, tokenQuestions } from './token-question.ts'

const complete = readRecordings()
  .filter(isComplete)
  .map((recording) => [`${recording.engine} ${recording.version}`, recording] as const)

/** Each recorded question, and the request it is about. */
const asked: readonly [string, PromptApi, string, Record<string, unknown>][] = [
  ['tokens of a chat', 'chat_completions', '/v1/chat/completions', {}],
  ['rendered chat', 'chat_completions', '/v1/chat/completions', {}],
  ['tokens of a prompt', 'completions', '/v1/completions', {}],
  ['rendered completion', 'completions', '/v1/completions', {}],
  ['tokens of two prompts', 'completions', '/v1/completions', {}],
  ['rendered completions', 'completions', '/v1/completions', {}],
  ['rendered message', 'messages', '/v1/messages', {}],
  ['rendered response', 'responses', '/v1/responses', {}],
]

describe.each(complete)('%s is asked for tokens', (_, recording) => {
  const recorded = asked.filter(([name]) => recording.exchanges.some((exchange) => exchange.name === name))

  test('by the very questions that were recorded, and its answers are read', () => {
    expect(recorded.length).toBeGreaterThanOrEqual(3)
    for (const [name, api, path] of recorded) {
      const exchange = findExchange(recording, name)
      // as in a request, with fields that do not affect its tokens
      const sent = { ...(exchange.body as object), temperature: 0, stream: false, cache_salt: 'salt' }
      const questions = tokenQuestions(adapterFor(recording.engine), {
        api,
        path,
        body: Buffer.from(JSON.stringify(sent)),
      })!
      const way = questions.ways.find((candidate) => candidate.path === exchange.path)
      // SGLang serves one model, so the question for a prompt does not name it
      expect(exchange.body, name).toMatchObject(JSON.parse(way?.body ?? 'null'))
      const prompts = readTokens(exchange.answer.body)
      expect(prompts?.length, name).toBe(name.includes('two prompts') || name === 'rendered completions' ? 2 : 1)
    }
  })

  test('and renders what it tokenises', () => {
    if (recording.engine === 'sglang') return
    const tokensOf = (name: string): Uint32Array[] | undefined => readTokens(findExchange(recording, name).answer.body)
    expect(tokensOf('rendered chat')).toEqual(tokensOf('tokens of a chat'))
    expect(tokensOf('rendered completion')).toEqual(tokensOf('tokens of a prompt'))
  })
})
