import { describe, expect, test } from 'vitest'
import { vllmAdapter } from '#engine-adapters/vllm/adapter.ts'
import type { ReplicaId, ScopeId } from '#index/context-block.ts'
import type { KeyEntry } from '../../access/api-keys.ts'
import { HotPrompts, type KeptLimits, type RunPrompt } from './hot-prompts.ts'

const hour = 3_600_000
const keyOf = (id: string): KeyEntry => ({ id }) as KeyEntry
const limitsOf = (prompts: number, gone?: string): KeptLimits => ({ prompts, admits: (key) => key?.id !== gone })

/** A prompt of these parts, 100 characters each; the last one is its question. */
function run(parts: string, rest: Partial<RunPrompt> & { readonly bytes?: number } = {}): RunPrompt {
  const { bytes = 10, ...own } = rest
  const prefixes = [...parts].map((_, i) => parts.slice(0, i + 1) as ScopeId)
  return {
    api: 'chat_completions',
    model: 'm',
    tenant: 't',
    key: keyOf('k'),
    from: { id: 'gpu-0' as ReplicaId, adapter: vllmAdapter, apiKey: undefined },
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

const namesOf = (hot: HotPrompts): unknown[] => hot.hottest.map(({ prompt }) => prompt.prefixes.at(-1))
function keep(prompts: number, ...all: (string | RunPrompt)[]): HotPrompts {
  const hot = new HotPrompts()
  for (const [at, one] of all.entries()) hot.note(typeof one === 'string' ? run(one) : one, limitsOf(prompts), at)
  return hot
}

describe('the hot prompts', () => {
  test('come in the order of how much of them others asked for', () => {
    expect(namesOf(keep(10, 'xyz', 'abc?', 'abd?', 'abe?', 'xw?', 'q'))).toEqual([
      'abc?',
      'abd?',
      'abe?',
      'xyz',
      'xw?',
      'q',
    ])
  })

  test('are the last ones that asked something of the same beginning, which counts as often', () => {
    expect(namesOf(keep(10, 'ab1', 'abc1', 'abc2', 'x1', 'x2', 'x3', 'x4'))).toEqual(['abc2', 'x4', 'ab1'])
  })

  test('with documents, begin with all of them', () => {
    const documents = { scope: 'a' as ScopeId, blocks: [], sizes: [100], ends: [200] }
    const about = (parts: string): RunPrompt => {
      const { prompt, ...rest } = run(parts)
      return { ...rest, prompt: { ...prompt, contexts: [documents] } }
    }
    expect(namesOf(keep(10, about('abqr'), about('abst'), about('acqr')))).toEqual(['abst', 'acqr'])
  })

  test('are those asked for most, of each tenant as many', () => {
    const others = Array.from({ length: 9 }, (_, i) => run(`${i}?`, { tenant: 'loud' }))
    expect(namesOf(keep(4, 'a1', 'a2', 'b1', ...others)).toSorted()).toEqual(['7?', '8?', 'a2', 'b1'])
    expect(namesOf(keep(2, 'a1', 'a2', 'b1', 'c1')).toSorted()).toEqual(['a2', 'c1'])
  })

  test('are what is asked for now, whatever was asked for before', () => {
    const hot = keep(4, ...['a', 'b', 'c', 'd'].flatMap((name) => [`${name}1`, `${name}2`]))
    for (let i = 0; i < 9; i++) hot.note(run(`new${i}`), limitsOf(4), 100 + i)
    for (let i = 0; i < 9; i++) hot.note(run(`${i}?`), limitsOf(4), 200 + i)
    expect(namesOf(hot)[0]).toBe('new8')
  })

  test('are forgotten after an hour, above 8 MiB of bodies, and where none are to be kept any more', () => {
    const hot = keep(9, 'a1', 'b1')
    hot.expire(limitsOf(9), hour + 1)
    expect(namesOf(hot)).toEqual(['b1'])
    const large = Array.from({ length: 9 }, (_, i) => run(`c${i}x`, { bytes: 1024 * 1024 }))
    expect(namesOf(keep(99, ...large))).toHaveLength(8)
    hot.expire(limitsOf(0), 0)
    expect(namesOf(hot)).toEqual([])
  })

  test('are forgotten once the API key of their caller is, also one that was under way then', () => {
    const hot = keep(9, run('a1', { key: keyOf('one') }), run('b1', { key: keyOf('two') }))
    hot.expire(limitsOf(9, 'one'), 0)
    hot.note(run('c1', { key: keyOf('one') }), limitsOf(9, 'one'), 0)
    expect(namesOf(hot)).toEqual(['b1'])
  })

  test('keep of their headers the credentials alone', () => {
    expect(keep(9, 'a1').hottest[0]!.request.headers).toEqual(['authorization', 'Bearer client'])
  })
})
