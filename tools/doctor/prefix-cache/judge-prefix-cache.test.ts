import { expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { type CacheEvidence, judgePrefixCache } from './judge-prefix-cache.ts'
import type { Probe } from './probe-prefix-cache.ts'

const probe = (cachedTokens: number | undefined, promptTokens = 600): Probe => ({
  promptTokens,
  cachedTokens,
  milliseconds: 10,
})

interface Case extends Partial<Pick<CacheEvidence, 'cache'>> {
  kind?: EngineKind
  first?: number | undefined
  repeats?: (number | undefined)[]
  otherSalt?: number | undefined
}

function judge({ first, repeats = [first], kind = 'vllm', cache = {}, ...rest }: Case): Record<string, unknown> {
  const otherSalt = 'otherSalt' in rest ? probe(rest.otherSalt) : undefined
  const run = { first: probe(first), repeats: repeats.map((count) => probe(count)), otherSalt }
  const findings = judgePrefixCache({ engine: adapterFor(kind), cache, run })
  return Object.fromEntries(findings.map(({ check, level, found, fix }) => [check, [level, `${found} → ${fix}`]]))
}

test('a cache that works is told by the counts, and by salts that keep it apart', () => {
  expect(judge({ first: 0, repeats: [592], otherSalt: 0 })).toEqual({
    cached_tokens: ['ok', expect.any(String)],
    prefix_caching: ['ok', expect.stringContaining('592 of 600')],
    cache_salt: ['ok', expect.stringContaining('honoured')],
    page_size: ['ok', expect.stringContaining('at most 16 tokens')],
  })
})

test('what all chats have in front does not make a new prompt look cached, nor a salt ignored', () => {
  expect(judge({ first: 32, repeats: [592], otherSalt: 32 })).toMatchObject({
    prefix_caching: ['ok', expect.anything()],
    cache_salt: ['ok', expect.anything()],
  })
})

test('counts that are not reported are a warning with the flag of the engine', () => {
  expect(judge({ kind: 'vllm' })).toMatchObject({
    cached_tokens: ['warning', expect.stringContaining('--enable-prompt-tokens-details')],
    prefix_caching: ['warning', expect.stringContaining('cannot be measured')],
  })
  expect(judge({ kind: 'sglang' }).cached_tokens).toEqual(['warning', expect.stringContaining('--enable-cache-report')])
  expect(judge({ kind: 'vllm', otherSalt: undefined })).not.toHaveProperty('cache_salt')
})

test('without counts the word of the engine is taken', () => {
  expect(judge({ cache: { isEnabled: true } }).prefix_caching).toEqual(['ok', expect.stringContaining('not measured')])
  expect(judge({ cache: { isEnabled: false } }).prefix_caching).toEqual([
    'fatal',
    expect.stringContaining('without --no-enable-prefix-caching'),
  ])
})

test('a repeated prompt of which nothing was cached is fatal where caching is known to be possible', () => {
  const none = { first: 0, repeats: [0, 0, 0] }
  expect(judge(none).prefix_caching).toEqual(['fatal', expect.stringContaining('without --no-enable-prefix-caching')])
  expect(judge({ ...none, kind: 'sglang' }).prefix_caching).toEqual([
    'fatal',
    expect.stringContaining('without --disable-radix-cache'),
  ])
  expect(judge({ ...none, kind: 'openai' }).prefix_caching).toEqual(['warning', expect.stringContaining('provider')])
  expect(judge({ ...none, cache: { isEnabled: true } }).prefix_caching).toEqual([
    'fatal',
    expect.stringContaining('though the engine says'),
  ])
})

test('SGLang leaves out a count of 0: with reporting on, silence means that nothing was cached', () => {
  const silent = { kind: 'sglang', first: undefined, repeats: [undefined, undefined] } as const
  expect(judge({ ...silent, repeats: [...silent.repeats], cache: { reportsCachedTokens: true } })).toMatchObject({
    cached_tokens: ['ok', expect.anything()],
    prefix_caching: ['fatal', expect.anything()],
  })
  expect(judge({ kind: 'sglang', first: undefined, repeats: [599], otherSalt: undefined })).toMatchObject({
    prefix_caching: ['ok', expect.stringContaining('599 of 600')],
    cache_salt: ['ok', expect.anything()],
  })
})

test('a page that is larger than the prompt is named instead of a cache that is off', () => {
  expect(judge({ first: 0, repeats: [0], cache: { pageTokens: 1024, isEnabled: true } })).toMatchObject({
    prefix_caching: ['warning', expect.stringContaining('1024')],
    page_size: ['warning', expect.stringContaining('--block-size')],
  })
})

test('a hit that comes late speaks of several replicas behind one URL', () => {
  expect(judge({ first: 0, repeats: [0, 592] }).prefix_caching).toEqual([
    'warning',
    expect.stringContaining('2 replicas'),
  ])
})

test('a new prompt that is said to be cached makes the counts doubtful', () => {
  expect(judge({ first: 592, repeats: [592] }).prefix_caching).toEqual([
    'warning',
    expect.stringContaining('cannot be trusted'),
  ])
})

test('salts that are ignored are a warning: tenants share the cache', () => {
  expect(judge({ first: 0, repeats: [592], otherSalt: 592 }).cache_salt).toEqual([
    'warning',
    expect.stringContaining('ignored'),
  ])
})

test.each([
  [599, 'at most 1 token'],
  [592, 'at most 16 tokens'],
  [576, 'at most 64 tokens'],
  [512, 'at most 512 tokens'],
])('from %i of 600 cached tokens follows the largest page that explains them: %s', (cached, words) => {
  expect(judge({ first: 0, repeats: [cached] }).page_size).toEqual(['ok', expect.stringContaining(words)])
})

test('layers that keep only checkpoints are named, with what sets them', () => {
  const windows = judge({
    first: 0,
    repeats: [576],
    cache: { isEnabled: true, pageTokens: 32, sparseLayers: 'windows' },
  })
  expect(windows.checkpoints).toEqual(['warning', expect.stringMatching(/plugin.*--prefix-cache-retention-interval/)])
  const states = judge({
    first: 0,
    repeats: [528],
    cache: { isEnabled: true, pageTokens: 528, sparseLayers: 'states' },
  })
  expect(states.checkpoints).toEqual(['warning', expect.stringMatching(/states.*plugin/)])
  // an interval does nothing for states
  expect(states.checkpoints).not.toEqual(['warning', expect.stringContaining('retention')])
  expect(judge({ first: 0, repeats: [592], cache: { isEnabled: true, pageTokens: 16 } })).not.toHaveProperty(
    'checkpoints',
  )
})

test('smaller pages are not advised where states set their size, but what finds the ends of prompts', () => {
  const cache = { isEnabled: true, pageTokens: 528, sparseLayers: 'states' } as const
  const large = judge({ first: 0, repeats: [528], cache }).page_size
  expect(large).toEqual(['warning', expect.stringContaining('--prefix-match-unit')])
  expect(large).not.toEqual(['warning', expect.stringContaining('--block-size')])
  const short = judge({ first: 0, repeats: [0], cache: { ...cache, pageTokens: 1056 } }).prefix_caching
  expect(short).toEqual(['warning', expect.stringMatching(/a page has 1056 tokens.*--prefix-match-unit/)])
  const plain = judge({ first: 0, repeats: [512], cache: { isEnabled: true, pageTokens: 512 } }).page_size
  expect(plain).toEqual(['warning', expect.stringContaining('--block-size')])
})
