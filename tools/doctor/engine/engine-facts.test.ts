import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Finding } from '../finding.ts'
import { judgeFacts, readSglangFacts, readVllmFacts } from './engine-facts.ts'

const line = (rank: number): string => `vllm:cache_config_info{block_size="16",engine="${rank}",x="y"} 1.0\n`

test('of vLLM every rank that tells of its cache is one', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40)), (ranks) => {
      const caches = new Set(ranks).size
      expect(readVllmFacts(`# HELP x\n${ranks.map(line).join('other{engine="99"} 1\n')}`)).toEqual(
        caches === 0 ? {} : { caches },
      )
    }),
  )
})

test('a vLLM that has counted what it reused, or did not, reuses at any position', () => {
  const counted = 'vllm:reprise_prompt_tokens_total{engine="0",kind="cold"} 7.0\n'
  expect(readVllmFacts(line(0) + counted)).toEqual({
    caches: 1,
    reuse: { reused: 0, stock: new Map(), faults: 0 },
  })
  expect(readVllmFacts('# TYPE vllm:reprise_prompt_tokens_total counter\n')).toEqual({})
})

test.each([
  ['vllm:kv_offload_load_bytes', 'OffloadingConnector'],
  ['vllm:mooncake_store_operation_total', 'MooncakeStoreConnector'],
  ['lmcache:num_hit_tokens', 'LMCache'],
])('a vLLM with the metric %s has a tier of %s', (metric, tier) => {
  const facts = readVllmFacts(`# HELP ${metric} Help.\n${line(0)}`)
  expect(judgeFacts('vllm', facts, {})).toMatchObject([
    { check: 'tiers', level: 'ok', found: expect.stringContaining(tier) },
  ])
})

test('whatever an engine answers with, reading it does not fail, and nothing is judged that it did not say', () => {
  fc.assert(fc.property(fc.string(), (metrics) => void expect(readVllmFacts(metrics)).toEqual({})))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (info) => {
      expect(judgeFacts('sglang', readSglangFacts(info), {})).toEqual([])
    }),
  )
  expect(judgeFacts('sglang', readSglangFacts(undefined), {})).toEqual([])
})

test('members of another type are as if they were not there', () => {
  const info = { dp_size: '2', radix_cache_backend: 7, kv_events: 'x', enable_lmcache: 'yes' }
  expect(judgeFacts('sglang', readSglangFacts(info), {})).toEqual([])
})

const reportsOf = (info: Readonly<Record<string, unknown>>, events?: string): Finding | undefined =>
  judgeFacts('sglang', readSglangFacts(info), events === undefined ? {} : { events }).find(
    ({ check }) => check === 'reports',
  )

test.each([
  [{ disable_radix_cache: true }, '--disable-radix-cache'],
  [{ dp_size: 2 }, '--dp-size 2'],
  [{ enable_lmcache: true }, '--enable-lmcache'],
  [{ enable_flexkv: true }, '--enable-flexkv'],
  [{ enable_unified_cache_external_linker: true }, '--enable-unified-cache-external-linker'],
])('a plugin that is switched on, and reports nothing of such an engine, is no report: %j', (info, flag) => {
  expect(reportsOf({ radix_cache_backend: 'reprise', ...info })).toMatchObject({
    level: 'warning',
    found: `the plugin is switched on (--radix-cache-backend reprise), and reports nothing with ${flag}`,
    fix: `start SGLang without ${flag}`,
  })
})

test('a plugin beside a host tier reports', () => {
  expect(reportsOf({ radix_cache_backend: 'reprise', enable_hierarchical_cache: true })?.level).toBe('ok')
})

test('events that are read and not published are not said to be reports beside those of the plugin', () => {
  const events = 'tcp://h:5557'
  expect(reportsOf({ radix_cache_backend: 'reprise' }, events)).toMatchObject({
    level: 'warning',
    found: 'by the plugin (--radix-cache-backend reprise); events= is given, and SGLang publishes none',
    fix: 'leave events= and replay= out',
  })
  const publishing = { radix_cache_backend: 'reprise', kv_events: { endpoint_port_base: 5557 } }
  expect(reportsOf(publishing, events)?.found).toContain('and by its events as well')
  // a disabled cache has no events either
  expect(
    reportsOf({ radix_cache_backend: null, disable_radix_cache: true, kv_events: publishing.kv_events }, events),
  ).toEqual({
    check: 'reports',
    level: 'warning',
    found: 'there is nothing to report with --disable-radix-cache',
    fix: 'start SGLang without --disable-radix-cache',
  })
})
