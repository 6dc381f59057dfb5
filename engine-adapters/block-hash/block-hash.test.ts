import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { encodeCbor } from './cbor.ts'
import { encodePickle } from './pickle.ts'
import { sglangBlockHashes } from './sglang-block-hash.ts'
import { vllmBlockHashes, vllmDefaultSeed, vllmEventHash } from './vllm-block-hash.ts'

/** Computed by the engines' own functions: see record_block_hashes.py. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'block-hashes.fixture.json'), 'utf8')) as {
  vllm: {
    version: string
    cases: { seed: string; salt: string | null; block_size: number; tokens: number[]; hashes: string[] }[]
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

  // by vLLM 0.32's hash_block_tokens with sha256, its default, which pickles: the first, the second and the last block
  const tokens = [0, 1, 23, 24, 255, 256, 65535, 65536, 151643, ...upTo(63).map((i) => 1000 + i)]
  test.each([
    [
      vllmDefaultSeed,
      undefined,
      16,
      'acc81a9b14a59e5edd864a42421cb6d7a32344bc6f9c49879b631da78ee61a49',
      '195699b8d0c23f6c442118e325185adaa5142c6a750e39558d178dfe9163cde4',
      'a1b7d8a73e6c412539c416f7c7273deb17fbfc7480cdd326ddae61f91c672fea',
    ],
    [
      vllmDefaultSeed,
      'Bäume',
      32,
      '70c773f9f04e1c81f4ea7cf61fb02a0910d0c3852ed5132163f43f494170507e',
      'ef1c32410c1e39362dc12fbb5b18c08c0acd558f63226907c01ee12528fead1b',
      'ef1c32410c1e39362dc12fbb5b18c08c0acd558f63226907c01ee12528fead1b',
    ],
    [
      '42',
      'a'.repeat(300),
      8,
      '2033cb95bc697a3555269a9a23690099160380148478b1a08d8dbda8c4e11c06',
      '52397bc7d78806b5e2e8dbc119f929238bc51901f058f42447cf5029719de9e9',
      'bf345f04dd58c0167bad461d8e30455d51e63ca5761bfc564c270605f079c37c',
    ],
    [
      vllmDefaultSeed,
      undefined,
      3,
      '588c1268ece56d895e2730c39f59ae5f370f7ea121e4fdaa9569c7bca0ea6a00',
      '27f3c01741e55cd9536e7db68dfba985c5d39f267f66081f50f4de486588e20c',
      '0ce1c5b1b34f8f0d73a2157721739f2f1865045103774d01d0c5126b7c22247f',
    ],
  ])('hashes as vLLM 0.32 does by default: seed %s, salt %s, blocks of %i', (seed, salt, size, first, second, last) => {
    const hashes = vllmBlockHashes(tokens, size, { seed, salt, encode: encodePickle })
    expect([hashes[0], hashes[1], hashes.at(-1)].map((digest) => digest?.toString('hex'))).toEqual([
      first,
      second,
      last,
    ])
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
    `hashes as vLLM ${recorded.vllm.version} does: seed $seed, salt $salt, blocks of $block_size`,
    ({ seed, salt, block_size, tokens, hashes }) => {
      const computed = vllmBlockHashes(tokens, block_size, { seed, salt: salt ?? undefined })
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
