import { expect, test } from 'vitest'
import { readSglangCacheConfig, readVllmCacheConfig, toCacheSize } from './cache-config.ts'

const metrics = (labels: string): string =>
  `# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig\n# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{${labels}} 1.0\nvllm:num_requests_running{engine="0"} 0.0\n`

test("vLLM's metrics say whether prefix caching is on, how large a page is and how many there are", () => {
  const labels =
    'block_size="16",cache_dtype="auto",enable_prefix_caching="True",engine="0",num_gpu_blocks="1000",sliding_window="None"'
  expect(readVllmCacheConfig(metrics(labels))).toEqual({ isEnabled: true, pageTokens: 16, capacityTokens: 15_984 })
  expect(readVllmCacheConfig(metrics('block_size="128",enable_prefix_caching="False",num_gpu_blocks="None"'))).toEqual({
    isEnabled: false,
    pageTokens: 128,
    capacityTokens: undefined,
  })
})

test('the size of the cache is read where vLLM says it (0.32.0), less the block that is kept empty', () => {
  // part of what `vllm serve --block-size 32 --num-gpu-blocks-override 100` reports
  const labels =
    '_block_size_resolved="True",block_size="32",cache_hit_alignment_tokens="None",effective_attention_block_size="32",enable_prefix_caching="True",engine="0",hash_block_size="None",kv_cache_dtype_skip_layers="[]",kv_cache_max_concurrency="1.5625",kv_cache_memory_bytes="1073741824",kv_cache_size_tokens="3200",num_cpu_blocks="None",num_gpu_blocks="100",num_gpu_blocks_override="100",user_specified_block_size="True"'
  expect(readVllmCacheConfig(metrics(labels))).toEqual({
    isEnabled: true,
    pageTokens: 32,
    capacityTokens: 3168,
    isPageChosen: true,
  })
})

test('states, who has set the page size, the steps of matching and speculative decoding are read where vLLM says them', () => {
  // part of what `vllm serve --block-size 1056 --prefix-match-unit 32` reports for a Qwen3.5
  const labels =
    'block_size="1056",enable_prefix_caching="True",mamba_cache_mode="align",prefix_match_unit="32",user_specified_block_size="True"'
  const states = { pageTokens: 1056, hasStates: true, matchTokens: 32, isPageChosen: true }
  expect(readVllmCacheConfig(metrics(labels))).toMatchObject(states)
  const spec = '# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.\n'
  expect(readVllmCacheConfig(spec + metrics(labels))).toMatchObject({ ...states, isSpeculative: true })
  // a Gemma 3, of which nothing here tells that it has windows
  const windows =
    'block_size="128",enable_prefix_caching="True",kv_cache_size_tokens="818400",mamba_cache_mode="none",num_gpu_blocks="8192",prefix_match_unit="None",user_specified_block_size="False"'
  expect(readVllmCacheConfig(metrics(windows))).toEqual({ isEnabled: true, pageTokens: 128, capacityTokens: 818_272 })
})

test('what vLLM does not say stays unknown', () => {
  expect(readVllmCacheConfig(metrics('block_size="?"'))).toEqual({
    isEnabled: undefined,
    pageTokens: undefined,
    capacityTokens: undefined,
  })
  expect(readVllmCacheConfig('sglang:cache_hit_rate 0.1\n')).toBeUndefined()
})

test("SGLang's server info says the same, the capacity sometimes in its internal state", () => {
  const info = { page_size: 1, disable_radix_cache: false, enable_cache_report: false }
  expect(readSglangCacheConfig({ ...info, internal_states: [{ max_total_num_tokens: 5000 }] })).toEqual({
    isEnabled: true,
    reportsCachedTokens: false,
    pageTokens: 1,
    capacityTokens: 5000,
  })
  expect(readSglangCacheConfig({ ...info, max_total_num_tokens: 7000, disable_radix_cache: true })).toMatchObject({
    isEnabled: false,
    capacityTokens: 7000,
  })
})

test.each([undefined, null, 'text', [], {}, {}])('%j is no server info of SGLang', (json) => {
  expect(readSglangCacheConfig(json)).toBeUndefined()
})

test('a mirror is told the size of pages and of the cache, and nothing of a cache that is off or of unknown pages', () => {
  expect(toCacheSize({ isEnabled: true, pageTokens: 16, capacityTokens: 160 })).toEqual({
    pageTokens: 16,
    capacityTokens: 160,
  })
  expect(toCacheSize({ pageTokens: 16 })).toEqual({ pageTokens: 16, capacityTokens: undefined })
  expect(toCacheSize({ isEnabled: false, pageTokens: 16 })).toBeUndefined()
  expect(toCacheSize({ capacityTokens: 160 })).toBeUndefined()
  expect(toCacheSize(undefined)).toBeUndefined()
})
