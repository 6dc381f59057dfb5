import { describe, expect, test } from 'vitest'
import { vllmAdapter } from '#engine-adapters/vllm/adapter.ts'
import type { ScopeId } from '#index/context-block.ts'
import { HotPrompts, type RunPrompt } from './hot-prompts.ts'

const hour = 3_600_000

/** A prompt of these parts, 100 characters each. */
function run(parts: string, rest: Partial<RunPrompt> & { readonly bytes?: number } = {}): RunPrompt {
  const { bytes = 10, ...own } = rest
  const prefixes = [...parts].map((_, i) => parts.slice(0, i + 1) as ScopeId)
  return {
    api: 'chat_completions',
    model: 'm',
    key: undefined,
    from: { adapter: vllmAdapter, apiKey: undefined },
    prompt: { contexts: [], prefixes, ends: prefixes.map((_, i) => 100 * (i + 1)), length: 100 * parts.length },
    request: {
      path: '/v1/chat/completions',
      method: 'POST',
      headers: ['authorization', 'Bearer client', 'x-own', '1'],
      body: Buffer.alloc(bytes, parts),
    },
    ...own,
  }
}

const namesOf = (hot: HotPrompts, now = 0): unknown[] => hot.hottest(now).map(({ prompt }) => prompt.prefixes.at(-1))

describe('the hot prompts', () => {
  test('come in the order of how much of them the others asked for', () => {
    const hot = new HotPrompts()
    for (const parts of ['xyz', 'abc', 'abd', 'abe', 'xyw', 'q']) hot.note(run(parts), 10, 0)
    expect(namesOf(hot)).toEqual(['abc', 'abd', 'abe', 'xyz', 'xyw', 'q'])
  })

  test('are each kept once, the newest in place of the oldest', () => {
    const hot = new HotPrompts()
    for (const parts of ['a', 'b', 'a', 'c']) hot.note(run(parts), 2, 0)
    expect(namesOf(hot).toSorted()).toEqual(['a', 'c'])
  })

  test('are forgotten after an hour, and above 8 MiB of bodies', () => {
    const hot = new HotPrompts()
    hot.note(run('a'), 9, 0)
    hot.note(run('b'), 9, 10)
    expect(namesOf(hot, hour + 5)).toEqual(['b'])
    for (let i = 0; i < 9; i++) hot.note(run(`c${i}`, { bytes: 1024 * 1024 }), 99, 20)
    expect(namesOf(hot, 20)).toHaveLength(8)
  })

  test('are forgotten with the API key of their caller', () => {
    const hot = new HotPrompts()
    hot.note(run('a', { key: 'one' }), 9, 0)
    hot.note(run('b', { key: 'two' }), 9, 0)
    hot.retain([{ id: 'two' }])
    expect(namesOf(hot)).toEqual(['b'])
  })

  test('keep of their headers the credentials alone', () => {
    const hot = new HotPrompts()
    hot.note(run('a'), 9, 0)
    expect(hot.hottest(0)[0]!.request.headers).toEqual(['authorization', 'Bearer client'])
  })
})
