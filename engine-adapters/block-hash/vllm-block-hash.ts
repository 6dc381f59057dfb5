import { hash } from 'node:crypto'
import { type CborValue, encodeCbor } from './cbor.ts'

/** What vLLM, since 0.29, hashes before the first block if PYTHONHASHSEED is not set. */
export const vllmDefaultSeed = 'vllm-none-hash'

/** What distinguishes a prompt's blocks besides their tokens. */
export interface VllmHashOptions {
  /** PYTHONHASHSEED of the engine, or its default */
  readonly seed: string
  /** part of the first block only */
  readonly salt?: string | undefined
  /** whether the salt is hashed with a tag that names it: 0.32 adds the tag, 0.28 did not */
  readonly isSaltTagged?: boolean
  /** `encodePickle` for `--prefix-caching-hash-algo sha256`, vLLM's default; if missing, CBOR for `sha256_cbor` */
  readonly encode?: (value: CborValue) => Buffer
}

/** The hashes of a prompt's full blocks for `--prefix-caching-hash-algo sha256` or `sha256_cbor`, 32 bytes each. */
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

/** The number under which vLLM publishes a hash, unless configured to publish all of it: its last 64 bits. */
export function vllmEventHash(blockHash: Buffer): bigint {
  return blockHash.readBigUInt64BE(blockHash.length - 8)
}
