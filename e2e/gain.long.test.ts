import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SYSTEM_MESSAGE, toUserMessage } from './demo/prompt.ts'
import { readTrace } from './demo/trace.ts'
import { cachedOf, documents, runDirect, runThrough, smallTrace, toBody } from './gain-worlds.ts'
import { postJson } from './start-test-proxy.ts'

/** Returns the difference relative to the larger of the two; 0 if both are 0. */
function off(a: number, b: number): number {
  return Math.abs(a - b) / Math.max(1, a, b)
}

async function expectEqualWorlds(bodies: readonly object[], capacityTokens: number, tolerance = 0.01): Promise<void> {
  const direct = await runDirect(bodies, capacityTokens)
  const on = await runThrough(bodies, capacityTokens, { mode: 'on', isReported: true })
  const shadow = await runThrough(bodies, capacityTokens, { mode: 'shadow', isReported: true })
  const [without, rewritten] = [cachedOf(direct), cachedOf(on.answers)]
  expect(off(on.gain.total.without_tokens, without)).toBeLessThan(tolerance)
  expect(off(shadow.gain.total.with_tokens, rewritten)).toBeLessThan(tolerance)
  expect(cachedOf(shadow.answers)).toBe(without)
  expect(on.gain.total.possible_tokens).toBeGreaterThanOrEqual(rewritten)
}

describe('what reprise brings', () => {
  test.each([
    // two prompts fill it: no model predicts which of two pages used together is evicted first, and here a page of 16
    // tokens is a twentieth of all hits
    [2_000, 0.05],
    [10_000, 0.01],
    [400_000, 0.01],
  ])('is what the other run finds, in a cache of %i tokens', async (capacity, tolerance) => {
    await expectEqualWorlds(smallTrace(40), capacity, tolerance)
  })

  test('is told of each request in the head of its answer', async () => {
    const bodies = smallTrace(12)
    const direct = await runDirect(bodies, 400_000)
    // a slow engine, so that the tokens of both worlds are known before it answers
    const options = { mode: 'on', isReported: true, prefillTokensPerSecond: 5_000 } as const
    const { answers } = await runThrough(bodies, 400_000, options)
    expect(answers.map(({ baseline }) => baseline)).toEqual(direct.map(({ cachedTokens }) => cachedTokens))
  })
})

/** Returns the requests of a chat of several turns, each with three documents; the history includes the answers. */
function conversation(turns: number, answer: string): object[] {
  const texts = documents(9)
  const messages: object[] = [SYSTEM_MESSAGE]
  return Array.from({ length: turns }, (_, i) => {
    const blocks = [0, 1, 2].map((k) => ({ id: `d${k}`, text: texts[(i * 2 + k * (i % 2 ? 1 : 2)) % 9]! }))
    messages.push(toUserMessage({ question: `And then ${i}?`, blocks }))
    const body = { model: 'm', max_tokens: 24, messages: [...messages] }
    messages.push({ role: 'assistant', content: answer })
    return body
  })
}

test('a conversation is counted up to the end of the last answer', async () => {
  const first = await runDirect(conversation(1, ''), 100_000)
  const bodies = conversation(5, first[0]!.answer)
  const direct = await runDirect(bodies, 100_000)
  const on = await runThrough(bodies, 100_000, { mode: 'on', isReported: true })
  expect(off(on.gain.total.without_tokens, cachedOf(direct))).toBeLessThan(0.01)
  const shadow = await runThrough(bodies, 100_000, { mode: 'shadow', isReported: true })
  expect(cachedOf(shadow.answers)).toBe(cachedOf(direct))
  expect(off(shadow.gain.total.with_tokens, cachedOf(on.answers))).toBeLessThan(0.01)
})

describe('where the engine reports nothing', () => {
  test('what is not rewritten is counted as it was found, whatever the estimate', async () => {
    const bodies = Array.from({ length: 8 }, (_, i) => ({
      model: 'm',
      max_tokens: 4,
      messages: [SYSTEM_MESSAGE, { role: 'user', content: `Tell me about ${i % 3}: ${'again and again '.repeat(30)}` }],
    }))
    const { answers, gain } = await runThrough(bodies, 100_000, { mode: 'on', isReported: false })
    expect(gain.total).toMatchObject({ requests: 8, exact_requests: 0, without_tokens: cachedOf(answers) })
    expect(gain.total.with_tokens).toBe(cachedOf(answers))
  })

  test('the size that the engine states bounds what shadow mode promises', async () => {
    // three times as many documents as fit
    const texts = documents(60)
    const bodies = Array.from({ length: 120 }, (_, i) => {
      const chosen = [...new Set(Array.from({ length: 5 }, (_, k) => (i * 7 + k * (3 + (i % 5))) % 60))]
      return toBody({ question: `And case ${i}?`, blocks: chosen.map((at) => ({ id: `d${at}`, text: texts[at]! })) })
    })
    const on = await runThrough(bodies, 3_000, { mode: 'on', isReported: false })
    const shadow = await runThrough(bodies, 3_000, { mode: 'shadow', isReported: false })
    expect(shadow.gain.total.with_tokens).toBeLessThan(1.5 * cachedOf(on.answers))
  })

  test('what cannot be read counts the same with and without reprise, and a stream without usage is left out', async () => {
    const ids = Array.from({ length: 512 }, (_, i) => 1_000 + i)
    const { gain, metrics } = await runThrough([], 100_000, {
      mode: 'on',
      isReported: false,
      more: async (url) => {
        for (let i = 0; i < 3; i++) await (await postJson(`${url}/v1/completions`, { model: 'm', prompt: ids })).text()
        const chat = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hello' }] }
        await (await postJson(`${url}/v1/chat/completions`, chat)).text()
      },
    })
    const [, cached] = /^reprise_cached_tokens_total\{[^}]*source="engine"[^}]*\} (\d+)$/m.exec(metrics)!
    expect(Number(cached)).toBeGreaterThan(900)
    expect(gain.total).toMatchObject({
      requests: 3,
      cached_tokens: Number(cached),
      with_tokens: Number(cached),
      without_tokens: Number(cached),
      model_error_tokens: 0,
      uncounted_requests: 1,
      uncounted_by_reason: { unreported: 1, too_long: 0, too_many: 0 },
    })
  })

  test('mode off compares nothing, and counts all', async () => {
    const { answers, gain } = await runThrough(smallTrace(8), 100_000, { mode: 'off', isReported: false })
    expect(gain.total).toMatchObject({ requests: 8, with_tokens: cachedOf(answers), without_tokens: cachedOf(answers) })
  })

  test('it is estimated by characters', async () => {
    const bodies = smallTrace(40)
    const direct = cachedOf(await runDirect(bodies, 400_000))
    const { answers, gain, metrics } = await runThrough(bodies, 400_000, { mode: 'on', isReported: false })
    expect(off(gain.total.without_tokens, direct)).toBeLessThan(0.05)
    expect(answers.filter(({ baseline }) => baseline === undefined)).toEqual([])
    const [, counted] = /^reprise_baseline_cached_tokens_total\{replica="gpu-0"\} (\d+)$/m.exec(metrics)!
    expect(Number(counted)).toBe(gain.total.without_tokens)
    expect(gain).toMatchObject({
      mode: 'on',
      replicas: [{ name: 'gpu-0' }],
      routes: [{ name: 'chat_completions', requests: 40 }],
      tenants: [{ name: 'default' }],
      shapes: [{ name: 'system, user: blocks found', requests: 40 }],
    })
  })
})

const data = join(import.meta.dirname, '..', '..', 'shared', 'data')
const traces = ['rag_cookbook_docs', 'rag_cookbook_code', 'rag_musique', 'rag_hotpot', 'rag_2wiki']

describe.each(traces)('the trace %s', (name) => {
  test.skipIf(!existsSync(join(data, name))).each([65_536, 4_000_000])(
    'is counted as the other run finds it, in a cache of %i tokens',
    async (capacity) => {
      const { turns } = await readTrace(join(data, name))
      const fitting = turns.filter(({ blocks }) => blocks.reduce((sum, { text }) => sum + text.length, 0) < 60_000)
      await expectEqualWorlds(fitting.slice(0, 20).map(toBody), capacity)
    },
    180_000,
  )
})
