import fc from 'fast-check'
import { expect, test } from 'vitest'
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
