import { expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { type CacheEvidence, judgePrefixCache } from './check-prefix-cache.ts'
import type { Probe } from './probe-prefix-cache.ts'

const probe = (cachedTokens: number | undefined, promptTokens = 600): Probe => ({
  promptTokens,
  cachedTokens,
  milliseconds: 10,
})

interface Case extends Partial<Pick<CacheEvidence, 'cache' | 'replica'>> {
  kind?: EngineKind
  first?: number | undefined
  repeats?: (number | undefined)[]
  otherSalt?: number | undefined
  sharers?: readonly number[]
  promptTokens?: number
}

function judge({
  first,
  repeats = [first],
  kind = 'vllm',
  cache = {},
  sharers = [],
  replica,
  promptTokens,
  ...rest
}: Case): Record<string, unknown> {
  const otherSalt = 'otherSalt' in rest ? probe(rest.otherSalt) : undefined
  const probes = (counts: readonly (number | undefined)[]): Probe[] => counts.map((count) => probe(count, promptTokens))
  const run = { first: probe(first, promptTokens), repeats: probes(repeats), otherSalt, sharers: probes(sharers) }
  const findings = judgePrefixCache({ engine: adapterFor(kind), cache, run, replica })
  return Object.fromEntries(findings.map(({ check, level, found, fix }) => [check, [level, `${found} → ${fix}`]]))
}

test('a cache that works is told by the counts, and by salts that keep it apart', () => {
  expect(judge({ first: 0, repeats: [592], otherSalt: 0 })).toEqual({
    cached_tokens: ['ok', expect.any(String)],
    prefix_caching: ['ok', expect.stringContaining('592 of 600')],
    cache_salt: ['ok', expect.stringContaining('honoured')],
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

// what vLLM 0.32 answered on a CPU for small models like Gemma 3 and Qwen3.5
const windows = {
  promptTokens: 3551,
  first: 0,
  repeats: [3456],
  sharers: [0, 1792],
  cache: { isEnabled: true, pageTokens: 128 },
}
const states = {
  promptTokens: 9206,
  first: 0,
  repeats: [9184],
  sharers: [0, 4224],
  cache: { isEnabled: true, pageTokens: 1056, hasStates: true },
}

test('layers that keep only checkpoints show in what the second and the third prompt with one beginning find', () => {
  const found = judge(windows).checkpoints
  expect(found).toEqual(['warning', expect.stringContaining('the second found 0 tokens, the third 1792')])
  expect(found).toEqual(['warning', expect.stringMatching(/load reprise's plugin.*--prefix-cache-retention-interval/)])
  expect(judge({ ...windows, sharers: [1792, 1792] })).not.toHaveProperty('checkpoints')
  expect(judge({ ...windows, sharers: [] })).not.toHaveProperty('checkpoints')
  // an interval does nothing for states
  const ofStates = judge(states).checkpoints
  expect(ofStates).toEqual(['warning', expect.stringContaining("load reprise's plugin")])
  expect(ofStates).not.toEqual(['warning', expect.stringContaining('retention')])
  // the prompts were too short to tell
  expect(judge({ ...states, sharers: [0, 0] }).checkpoints).toEqual([
    'warning',
    expect.stringContaining('the third is'),
  ])
  const sglang = judge({ ...windows, kind: 'sglang' }).checkpoints
  expect(sglang).toEqual(['warning', expect.stringContaining('FREE_OUT_OF_WINDOW_SLOTS=0')])
  expect(sglang).not.toEqual(['warning', expect.stringContaining('plugin')])
})

test('the plugin is not advised where it is loaded, or could do nothing', () => {
  const kept = { unit: 16, kinds: ['window'], room_tokens: 96, borders: true }
  const exact = { replica: 'gpu-0', mode: 'exact', generation: 'g' }
  const told = judge({ ...windows, replica: { ...exact, checkpoints: kept } }).checkpoints
  expect(told).toEqual([
    'ok',
    expect.stringMatching(/layers with windows, at multiples of 16 tokens; the plugin sets them/),
  ])
  const refused = judge({ ...windows, replica: { ...exact, checkpoints: null } }).checkpoints
  expect(refused).toEqual(['warning', expect.stringContaining("in the engine's log why the plugin sets none")])
  // SGLang sets none, and with its setting all that is shared is found
  const all = { ...exact, checkpoints: { borders: false } }
  expect(judge({ ...windows, kind: 'sglang', sharers: [1792, 1792], replica: all })).not.toHaveProperty('checkpoints')
  // its own events say nothing of a plugin
  const followed = judge({ ...windows, replica: { ...exact, generation: null, checkpoints: null } }).checkpoints
  expect(followed).toEqual(['warning', expect.stringContaining("load reprise's plugin")])
  const cache = { ...windows.cache, isSpeculative: true }
  const drafted = judge({ ...windows, cache }).checkpoints
  expect(drafted).toEqual(['warning', expect.stringMatching(/speculative decoding.*--prefix-cache-retention-interval/)])
  expect(drafted).not.toEqual(['warning', expect.stringContaining('load')])
})

test('smaller pages are not advised where states set their size, but what finds the ends of prompts', () => {
  const large = judge(states).page_size
  expect(large).toEqual(['warning', expect.stringMatching(/set by the size.*--prefix-match-unit 32/)])
  expect(large).not.toEqual(['warning', expect.stringContaining('--block-size')])
  const odd = judge({ ...states, cache: { ...states.cache, pageTokens: 528 } }).page_size
  expect(odd).toEqual(['warning', expect.stringContaining('--prefix-match-unit 16')])
  const short = judge({ ...states, promptTokens: 600, repeats: [0], sharers: [] }).prefix_caching
  expect(short).toEqual(['warning', expect.stringMatching(/a page has 1056 tokens.*--prefix-match-unit/)])
  const plain = judge({ first: 0, repeats: [512], cache: { isEnabled: true, pageTokens: 512 } }).page_size
  expect(plain).toEqual(['warning', expect.stringContaining('--block-size')])
})

test('what is set already is not advised, and what the operator has chosen is not called the size of states', () => {
  const set = judge({ ...states, cache: { ...states.cache, matchTokens: 32 } }).page_size
  expect(set).toEqual(['ok', expect.stringContaining('found to their ends in steps of 32')])
  const chosen = judge({ ...states, cache: { ...states.cache, pageTokens: 2048, isPageChosen: true } }).page_size
  expect(chosen).toEqual(['warning', expect.stringMatching(/start vLLM without --block-size.*--prefix-match-unit 32/)])
  expect(chosen).not.toEqual(['warning', expect.stringContaining('set by the size')])
})
