import { expect, test } from 'vitest'
import type { EngineConfig } from './config.ts'
import { findEngineWarnings } from './start-warnings.ts'

const engines = (...kinds: EngineConfig['kind'][]): EngineConfig[] =>
  kinds.map((kind, i) => ({ url: 'http://engine', kind, id: `gpu-${i}` }))
const tenants = { from: 'key', trusted_peers: [] } as const

const warningsOf = (
  kinds: EngineConfig['kind'][],
  more: Partial<Parameters<typeof findEngineWarnings>[0]>,
): readonly string[] => findEngineWarnings({ engines: engines(...kinds), tenants, ...more })

test('SGLang with tenants that it does not keep apart on one of its APIs is named, with what to do', () => {
  const [warning] = warningsOf(['vllm', 'sglang'], {})
  expect(warning).toMatch(/SGLang \(gpu-1\) drops cache_salt on \/v1\/messages.*or use vLLM/)
  expect(warningsOf(['sglang'], { tenants: { ...tenants, trusted_peers: ['10.0.0.1'] } })).toHaveLength(1)
})

test('an engine of no kind is named', () => {
  expect(warningsOf(['vllm', 'openai'], {})).toEqual([
    expect.stringMatching(/get no cache_salt \(gpu-1\): all tenants share.*kind=vllm or kind=sglang/),
  ])
})

test('nothing is said of other engines, nor where all are one tenant', () => {
  expect(warningsOf(['vllm'], {})).toEqual([])
  expect(warningsOf(['sglang', 'openai'], { tenants: { ...tenants, from: 'none' } })).toEqual([])
})
