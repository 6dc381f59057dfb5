import { expect, test } from 'vitest'
import type { KeyRecord, KeysConfig } from '../access/api-keys.ts'
import type { EngineConfig } from './config.ts'
import { findEngineWarnings } from './start-warnings.ts'

const engines = (...kinds: EngineConfig['kind'][]): EngineConfig[] =>
  kinds.map((kind, i) => ({ url: 'http://engine', kind, id: `gpu-${i}` }))
const record = (tenant: string): KeyRecord => ({ name: tenant, tenant, sha256: '0'.repeat(64) })
const keys = (...tenants: string[]): KeysConfig => ({
  entries: tenants.map(record),
  forward_client_authorization: false,
})

const tenants = { from: 'key', trusted_peers: [] } as const

const warningsOf = (
  kinds: EngineConfig['kind'][],
  more: Partial<Parameters<typeof findEngineWarnings>[0]>,
): readonly string[] => findEngineWarnings({ engines: engines(...kinds), keys: keys(), tenants, ...more })

test('SGLang with tenants that it does not keep apart on one of its APIs is named, with what to do', () => {
  for (const given of [keys(), keys('a', 'b'), { ...keys('a'), file: 'keys.json' }]) {
    const [warning] = warningsOf(['vllm', 'sglang'], { keys: given })
    expect(warning).toMatch(/SGLang \(gpu-1\) drops cache_salt on \/v1\/messages.*or use vLLM/)
  }
  expect(
    warningsOf(['sglang'], { keys: keys('a'), tenants: { ...tenants, trusted_peers: ['10.0.0.1'] } }),
  ).toHaveLength(1)
})

test('an engine of no kind is named, whether tenants are configured or every bearer is one', () => {
  for (const given of [keys(), keys('a', 'b')])
    expect(warningsOf(['vllm', 'openai'], { keys: given })).toEqual([
      expect.stringMatching(/get no cache_salt \(gpu-1\): all tenants share.*kind=vllm or kind=sglang/),
    ])
})

test('nothing is said of other engines, nor where there is one tenant alone', () => {
  expect(warningsOf(['vllm'], {})).toEqual([])
  expect(warningsOf(['sglang', 'openai'], { keys: keys('a', 'a') })).toEqual([])
  expect(warningsOf(['sglang', 'openai'], { tenants: { ...tenants, from: 'none' } })).toEqual([])
})
