import { describe, expect, test } from 'vitest'
import { sglangBlockHashes } from '../block-hash/sglang-block-hash.ts'
import { encodePickle, vllmBlockHashes, vllmDefaultSeed, vllmEventHash } from '../block-hash/vllm-block-hash.ts'
import type { BlockHash, BlocksStored } from './kv-event.ts'
import { ReportedCache } from './reported-cache.ts'

const blockSize = 4
const tokens = Array.from({ length: 14 }, (_, i) => 500 + i)

/** Hashes that cannot be computed here, like those of an engine with a random seed. */
const opaque = (prompt: readonly number[], _size: number, salt?: string): bigint[] =>
  sglangBlockHashes(prompt, blockSize, `${salt}, and what only the engine knows`)
const vllm = (prompt: readonly number[], size: number, salt?: string): bigint[] =>
  vllmBlockHashes(prompt, size, { seed: vllmDefaultSeed, salt }).map(vllmEventHash)
const pickled = (prompt: readonly number[], size: number, salt?: string): bigint[] =>
  vllmBlockHashes(prompt, size, { seed: vllmDefaultSeed, salt, encode: encodePickle }).map(vllmEventHash)

function stored(hashes: readonly BlockHash[], from: number, more: Partial<BlocksStored> = {}): BlocksStored {
  return {
    type: 'stored',
    hashes: hashes.slice(from),
    parent: hashes[from - 1],
    tokens: tokens.slice(from * blockSize, hashes.length * blockSize),
    blockSize,
    tier: 'GPU',
    extras: hashes.slice(from).map((_, i) => (from === 0 && i === 0 ? '["salt"]' : undefined)),
    group: 0,
    attention: undefined,
    ...more,
  }
}

describe.each([
  ['vLLM', pickled],
  ['vLLM with sha256_cbor', vllm],
  ['SGLang', sglangBlockHashes],
  ['an engine whose hashes only it can compute', opaque],
])('%s', (_title, hashesOf) => {
  const hashes = hashesOf(tokens, blockSize, 'salt')
  const held = (cache: ReportedCache, prompt: readonly number[], salt?: string): number | undefined => {
    const names = cache.namesOfPrompt(prompt, salt)
    return names && cache.blocks.countHeld(names)
  }

  test('a prompt of the same tokens and salt is found, block by block', () => {
    const cache = new ReportedCache(() => {})
    expect(held(cache, tokens, 'salt')).toBeUndefined()
    cache.apply(stored(hashes.slice(0, 2), 0))
    expect(held(cache, tokens, 'salt')).toBe(2)
    cache.apply(stored(hashes, 2))
    expect(held(cache, tokens, 'salt')).toBe(3)
    expect(held(cache, [...tokens.slice(0, 5), 1, 2, 3, 4], 'salt')).toBe(1)
    expect(held(cache, tokens, 'pepper')).toBe(0)
    expect(held(cache, tokens)).toBe(0)
  })

  test('what is removed is found no more, and what stood behind it neither', () => {
    const cache = new ReportedCache(() => {})
    cache.apply(stored(hashes, 0))
    cache.apply({ type: 'removed', hashes: [hashes[1]!], tier: 'GPU', group: 0 })
    expect(held(cache, tokens, 'salt')).toBe(1)
    cache.apply(stored(hashes.slice(0, 2), 1))
    expect(held(cache, tokens, 'salt')).toBe(3)
    cache.apply({ type: 'cleared' })
    expect(held(cache, tokens, 'salt')).toBe(0)
  })

  test('windows and states of hybrid models do not count', () => {
    const cache = new ReportedCache(() => {})
    cache.apply(stored(hashes, 0, { attention: 'full_attention' }))
    cache.apply(stored(hashes, 0, { group: 1, attention: 'sliding_window' }))
    cache.apply({ type: 'removed', hashes, tier: 'GPU', group: 1 })
    expect(held(cache, tokens, 'salt')).toBe(3)
  })

  test('what the host and tiers behind it have is counted behind the device, until a gap, and since when', () => {
    const cache = new ReportedCache(() => {})
    const beside = (device: number, before?: number): object =>
      cache.countBeside(cache.namesOfPrompt(tokens, 'salt')!, device, before)
    const copied = (from: number, to: number, tier: string): void =>
      cache.apply(stored(hashes.slice(0, to), from, { parent: undefined, tokens: [], blockSize: 0, tier }))
    copied(0, 3, 'CPU')
    cache.apply(stored(hashes, 0))
    // before the first block of a prompt on the device, nothing shows how the engine names blocks
    expect(beside(1)).toEqual({ host: 0, remote: 0 })
    copied(0, 2, 'CPU')
    copied(1, 3, 'EXTERNAL')
    cache.apply({ type: 'removed', hashes, tier: 'GPU', group: 0 })
    expect([beside(0), beside(2)]).toEqual([
      { host: 2, remote: 1 },
      { host: 0, remote: 1 },
    ])
    const moment = cache.blocks.mark()
    copied(2, 3, 'CPU_PINNED')
    expect([beside(0, moment), beside(0)]).toEqual([
      { host: 2, remote: 1 },
      { host: 3, remote: 0 },
    ])
    cache.apply({ type: 'removed', hashes: hashes.slice(0, 1), tier: 'CPU', group: 0 })
    expect([beside(0), beside(1)]).toEqual([
      { host: 0, remote: 0 },
      { host: 2, remote: 0 },
    ])
    cache.apply({ type: 'cleared' })
    expect(beside(1)).toEqual({ host: 0, remote: 0 })
  })

  test('a copy that is reported with its tokens, but without the salt, takes no name from the device', () => {
    const cache = new ReportedCache(() => {})
    cache.apply(stored(hashes, 0))
    cache.apply(stored(hashes, 0, { extras: hashes.map(() => undefined), tier: 'CPU' }))
    cache.apply({ type: 'removed', hashes, tier: 'GPU', group: 0 })
    expect(held(cache, tokens, 'salt')).toBe(0)
    expect(cache.countBeside(cache.namesOfPrompt(tokens, 'salt')!, 0)).toEqual({ host: 3, remote: 0 })
  })

  test('what the device has lost is lost once the host has lost it too; tiers behind the host do not count', () => {
    const lost: number[] = []
    const cache = new ReportedCache(({ keptBlocks }) => lost.push(keptBlocks))
    const removed = (tier: string, from: number): void =>
      cache.apply({ type: 'removed', hashes: hashes.slice(from), tier, group: 0 })
    const copied = (from: number, to: number, tier: string): void =>
      cache.apply(stored(hashes.slice(0, to), from, { parent: undefined, tokens: [], blockSize: 0, tier }))
    cache.apply(stored(hashes, 0))
    copied(0, 2, 'CPU')
    copied(0, 3, 'EXTERNAL')
    removed('GPU', 0)
    const names = cache.namesOfPrompt(tokens, 'salt')!
    expect([cache.blocks.countHeld(names), cache.blocks.countKept(names), lost]).toEqual([0, 2, [2]])
    cache.apply(stored(hashes.slice(0, 2), 1))
    removed('CPU', 1)
    expect([cache.blocks.countKept(names), lost]).toEqual([2, [2]])
    removed('CPU', 0)
    expect([cache.blocks.countKept(names), lost]).toEqual([0, [2, 0]])
  })

  test('a block that the engine reads back from its host counts as on the device only from then on', () => {
    const cache = new ReportedCache(() => {})
    cache.apply(stored(hashes, 0))
    cache.apply(stored(hashes, 0, { tokens: [], blockSize: 0, tier: 'CPU' }))
    cache.apply({ type: 'removed', hashes, tier: 'GPU', group: 0 })
    const [names, moment] = [cache.namesOfPrompt(tokens, 'salt')!, cache.blocks.mark()]
    cache.apply(stored(hashes, 0))
    expect([cache.blocks.countHeld(names, moment), cache.blocks.countHeld(names)]).toEqual([0, 3])
    expect(cache.countBeside(names, 0, moment)).toEqual({ host: 3, remote: 0 })
  })

  test('of a tier that never says what it has no longer, the newest blocks are followed', () => {
    const cache = new ReportedCache(() => {}, 2)
    cache.apply(stored(hashes, 0))
    const copied = (from: number, to: number): void =>
      cache.apply(stored(hashes.slice(0, to), from, { parent: undefined, tokens: [], blockSize: 0, tier: 'CPU' }))
    copied(0, 2)
    copied(0, 1)
    copied(2, 3)
    const names = cache.namesOfPrompt(tokens, 'salt')!
    expect([0, 1, 2].map((at) => cache.countBeside(names.slice(at, at + 1), 0).host)).toEqual([1, 0, 1])
  })

  test('a copy in a lower tier serves no prompt, and its loss takes nothing from the device', () => {
    const cache = new ReportedCache(() => {})
    cache.apply(stored(hashes, 0))
    cache.apply(stored(hashes, 0, { tokens: [], blockSize: 0, tier: 'CPU' }))
    cache.apply({ type: 'removed', hashes: hashes.slice(2), tier: 'GPU', group: 0 })
    expect(held(cache, tokens, 'salt')).toBe(2)
    cache.apply({ type: 'removed', hashes, tier: 'CPU', group: 0 })
    expect(held(cache, tokens, 'salt')).toBe(2)
    cache.apply(stored(hashes, 2))
    expect(held(cache, tokens, 'salt')).toBe(3)
  })
})

test('an engine whose blocks can be told by their content only hides salts until it tells one', () => {
  const hidesSalts = (hashesOf: typeof opaque, extras?: undefined[]): boolean => {
    const cache = new ReportedCache(() => {})
    expect(cache.hidesSalts).toBe(false)
    cache.apply(stored(hashesOf(tokens, blockSize, extras ? undefined : 'salt'), 0, extras ? { extras } : {}))
    return cache.hidesSalts
  }
  const nothing = new Array(3).fill(undefined)
  expect(hidesSalts(opaque, nothing)).toBe(true)
  expect(hidesSalts(opaque)).toBe(false)
  expect(hidesSalts(vllm, nothing)).toBe(false)
})

test('what is reused at another position has true tokens and other hashes: where these are known it is not exact', () => {
  for (const hashesOf of [pickled, vllm, opaque]) {
    const cache = new ReportedCache(() => {})
    expect(cache.trustsContent).toBe(false)
    const hashes = hashesOf(tokens, blockSize, 'salt')
    cache.apply(stored(hashes.slice(0, 1), 0))
    cache.apply(stored([hashes[0]!, 77n, 78n], 1))
    const held = cache.blocks.countHeld(cache.namesOfPrompt(tokens, 'salt')!)
    expect([held, cache.trustsContent]).toEqual(hashesOf === opaque ? [3, true] : [1, false])
  }
})

test('blocks behind one that was never heard of serve no prompt', () => {
  for (const hashesOf of [vllm, opaque]) {
    const cache = new ReportedCache(() => {})
    const other = hashesOf([9, 9, 9, 9], blockSize, undefined)
    cache.apply(stored(other, 0, { tokens: [9, 9, 9, 9], extras: [undefined] }))
    cache.apply(stored(hashesOf(tokens, blockSize, 'salt'), 1))
    expect(cache.blocks.countHeld(cache.namesOfPrompt(tokens, 'salt')!)).toBe(0)
  }
})
