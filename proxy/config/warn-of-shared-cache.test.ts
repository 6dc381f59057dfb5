import { expect, test } from 'vitest'
import type { KeyRecord } from '../access/key-record.ts'
import type { EngineConfig } from './config.ts'
import { sharedCacheWarning } from './start-warnings.ts'

const engines = (...kinds: EngineConfig['kind'][]): EngineConfig[] =>
  kinds.map((kind, i) => ({ url: 'http://engine', kind, id: `gpu-${i}` }))
const record = (tenant: string): KeyRecord => ({ name: tenant, tenant, sha256: '0'.repeat(64) })
const keys = (
  ...tenants: string[]
): { file: undefined; records: KeyRecord[]; forwardClientAuthorization: boolean } => ({
  file: undefined,
  records: tenants.map(record),
  forwardClientAuthorization: false,
})

test('SGLang with tenants that it does not keep apart on one of its APIs is named, with what to do', () => {
  for (const given of [keys(), keys('a', 'b'), { ...keys('a'), file: 'keys.json' }]) {
    const warning = sharedCacheWarning({ engines: engines('vllm', 'sglang'), keys: given, trustedPeers: [] })
    expect(warning).toMatch(/SGLang \(gpu-1\) drops cache_salt on \/v1\/messages.*or use vLLM/)
  }
  expect(sharedCacheWarning({ engines: engines('sglang'), keys: keys('a'), trustedPeers: ['10.0.0.1'] })).toBeDefined()
})

test('nothing is said of other engines, nor where there is one tenant alone', () => {
  expect(sharedCacheWarning({ engines: engines('vllm', 'openai'), keys: keys(), trustedPeers: [] })).toBeUndefined()
  expect(sharedCacheWarning({ engines: engines('sglang'), keys: keys('a', 'a'), trustedPeers: [] })).toBeUndefined()
})
