import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sglangBlockHashes } from './sglang-block-hash.ts'
import { encodeCbor, encodePickle, vllmBlockHashes, vllmDefaultSeed, vllmEventHash } from './vllm-block-hash.ts'

/** Computed by the engines' own functions: see record_block_hashes.py. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'block-hashes.fixture.json'), 'utf8')) as {
  vllm: {
    version: string
    cases: {
      algorithm: 'sha256' | 'sha256_cbor'
      seed: string
      salt: string | null
      block_size: number
      tokens: number[]
      hashes: string[]
    }[]
  }
  sglang: {
    version: string
    cases: { salt: string | null; page_size: number; tokens: number[]; hashes: string[] }[]
  }
}
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

describe('vLLM', () => {
  test.each([
    ['0', '4e1195df020de59e0d65a33a4279f1183e7ae4e5d980e309f8b55adff2e61c3e'],
    [vllmDefaultSeed, '9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0'],
  ])('hashes the seed %s as vLLM does', async (seed, expected) => {
    const { hash } = await import('node:crypto')
    expect(hash('sha256', encodeCbor(seed), 'hex')).toBe(expected)
  })

  test('chains blocks as vLLM 0.28 did', () => {
    const hashes = vllmBlockHashes(upTo(32), 16, { seed: '0' })
    expect(hashes.map((digest) => digest.toString('hex'))).toEqual([
      'd830de3d42c00f25a2949b5d12d98642664a44872c1614c5b0147556276afc9c',
      'fedd9e4abebebbe6f6cf96b682f08d316063fe2f22a5c552192dd62904fcccac',
    ])
    expect(vllmEventHash(hashes[0]!)).toBe(12687895063098490012n)
  })

  test('takes in a salt as vLLM 0.28 did', () => {
    const [first] = vllmBlockHashes(upTo(16), 16, { seed: '0', salt: 'pepper', isSaltTagged: false })
    expect(first!.toString('hex')).toBe('a08d3b62428579d575c2de147fe357c42be917310c155de47bb6c2dfc7030c54')
  })

  test.each(recorded.vllm.cases)(
    `hashes as vLLM ${recorded.vllm.version} does: $algorithm, seed $seed, salt $salt, blocks of $block_size`,
    ({ algorithm, seed, salt, block_size, tokens, hashes }) => {
      const encode = algorithm === 'sha256' ? encodePickle : encodeCbor
      const computed = vllmBlockHashes(tokens, block_size, { seed, salt: salt ?? undefined, encode })
      expect(computed.map((digest) => digest.toString('hex'))).toEqual(hashes)
    },
  )
})

describe('SGLang', () => {
  test.each(recorded.sglang.cases)(
    `hashes as SGLang ${recorded.sglang.version} does: salt $salt, pages of $page_size`,
    ({ salt, page_size, tokens, hashes }) => {
      const computed = sglangBlockHashes(tokens, page_size, salt ?? undefined)
      expect(computed).toEqual(hashes.map((digest) => BigInt.asUintN(64, BigInt(digest))))
    },
  )
})

test('what does not fill a block has no hash', () => {
  expect(sglangBlockHashes(upTo(15), 16)).toEqual([])
  expect(vllmBlockHashes(upTo(31), 16, { seed: '0' })).toHaveLength(1)
})
