import { hash } from 'node:crypto'
import { type CborValue, encodeCbor } from './cbor.ts'

/** What vLLM hashes in front of the first block, from 0.29 on, where PYTHONHASHSEED is not set. */
export const vllmDefaultSeed = 'vllm-none-hash'

/** What a prompt's blocks are told apart by besides their tokens. */
export interface VllmHashOptions {
  /** PYTHONHASHSEED of the engine, or its default */
  readonly seed: string
  /** part of the first block only */
  readonly salt?: string | undefined
  /** how the salt goes in: 0.32 says what it is, 0.28 did not */
  readonly isSaltTagged?: boolean
  /** `encodePickle` for `--prefix-caching-hash-algo sha256`, vLLM's default; `sha256_cbor` without it */
  readonly encode?: (value: CborValue) => Buffer
}

/** The hashes of a prompt's full blocks as `--prefix-caching-hash-algo sha256` or `sha256_cbor` makes them, 32 bytes each. */
export function vllmBlockHashes(tokens: ArrayLike<number>, blockSize: number, options: VllmHashOptions): Buffer[] {
  const { seed, salt, isSaltTagged = true, encode = encodeCbor } = options
  const saltKey: CborValue = isSaltTagged ? ['cache_salt', salt ?? ''] : (salt ?? '')
  const digest = (value: CborValue): Buffer => hash('sha256', encode(value), 'buffer')
  let before = digest(seed)
  return Array.from({ length: Math.floor(tokens.length / blockSize) }, (_, place) => {
    const block = Array.from({ length: blockSize }, (_, i) => tokens[place * blockSize + i]!)
    const extra = place === 0 && salt !== undefined && salt !== '' ? [saltKey] : null
    before = digest([before, block, extra])
    return before
  })
}

/** The number under which vLLM publishes a hash, unless it is told to publish all of it: its last 64 bits. */
export function vllmEventHash(blockHash: Buffer): bigint {
  return blockHash.readBigUInt64BE(blockHash.length - 8)
}
