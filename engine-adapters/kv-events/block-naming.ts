import { hash } from 'node:crypto'
import { sglangBlockHashes } from '../block-hash/sglang-block-hash.ts'
import {
  encodeCbor,
  encodePickle,
  type VllmHashOptions,
  vllmBlockHashes,
  vllmDefaultSeed,
  vllmEventHash,
} from '../block-hash/vllm-block-hash.ts'
import type { BlockHash, BlocksStored } from './kv-event.ts'

/** Our name for a block: equal for a prompt's block and a reported block exactly if they are the same block. */
export type BlockName = bigint | string

/** Computes the names of a prompt's full blocks. */
type NamesOfPrompt = (tokens: ArrayLike<number>, blockSize: number, salt: string | undefined) => BlockName[]

/** Seeds that vLLM is run with: its own default, and the values that guides recommend for PYTHONHASHSEED. */
const likelySeeds = [vllmDefaultSeed, '0', '42']
const vllmConfigurations = likelySeeds.flatMap((seed) =>
  [encodePickle, encodeCbor].flatMap((encode) =>
    [true, false].map((isSaltTagged): VllmHashOptions => ({ seed, encode, isSaltTagged })),
  ),
)

/** Finds how the engine hashes, from the first block of a prompt; undefined if its hash cannot be computed here. */
function findHashing({ tokens, blockSize, hashes: [first], extras }: BlocksStored): NamesOfPrompt | undefined {
  if (blockSize === 0) return undefined
  const salt = saltOf(extras[0])
  const isRaw = typeof first === 'string'
  const candidates = [
    sglangBlockHashes,
    ...vllmConfigurations.map(
      (options): NamesOfPrompt =>
        (tokens, blockSize, salt) => {
          const hashes = vllmBlockHashes(tokens, blockSize, { ...options, salt })
          return hashes.map((digest) => (isRaw ? digest.toString('hex') : vllmEventHash(digest)))
        },
    ),
  ]
  return candidates.find((hashesOf) => hashesOf(tokens.slice(0, blockSize), blockSize, salt)[0] === first)
}

/** The salt, if it is the block's only extra key. */
function saltOf(extra: string | undefined): string | undefined {
  if (extra === undefined) return undefined
  const keys = JSON.parse(extra) as unknown
  return Array.isArray(keys) && keys.length === 1 && typeof keys[0] === 'string' ? keys[0] : undefined
}

const nameBytes = 8
const bytesPerToken = 4

/**
 * Matches the blocks that an engine reports with those of the prompts it was sent. Names are the engine's own hashes if
 * we compute the same ones from a prompt's tokens: so even blocks that were stored before anyone listened are known when
 * they are removed. This does not rely on what an engine says about its configuration.
 *
 * Otherwise (vLLM with xxhash, or with an unknown seed) blocks are named by their content and everything before it, as
 * the engine reports it. Then a block whose parent is not known cannot be named, and one that is reused at another
 * position, which has a separate hash there, cannot be distinguished from an exact one.
 */
export class BlockNaming {
  readonly #hashesOf: NamesOfPrompt | undefined
  /** names by content */
  readonly #names = new Map<BlockHash, BlockName>()

  /** `first`: the first blocks that the engine reports as a prompt's beginning. */
  constructor(first: BlocksStored) {
    this.#hashesOf = findHashing(first)
  }

  get isByContent(): boolean {
    return this.#hashesOf === undefined
  }

  /** The names of consecutive stored blocks; undefined for a block that cannot be named. */
  nameStored({ hashes, parent, tokens, blockSize, extras }: BlocksStored): (BlockName | undefined)[] {
    // placeholders without tokens may refer to known blocks; if some blocks lack tokens, we cannot tell which ones
    if (!this.isByContent || tokens.length !== hashes.length * blockSize || blockSize === 0)
      return hashes.map((hash) => this.nameOf(hash))
    let before = parent === undefined ? undefined : this.#names.get(parent)
    if (parent !== undefined && before === undefined) return hashes.map(() => undefined)
    return hashes.map((hash, i) => {
      before = nameBlock(before, tokens, i * blockSize, blockSize, extras[i])
      this.#names.set(hash, before)
      return before
    })
  }

  /** The name of a stored block; undefined if it is not known. */
  nameOf(hash: BlockHash): BlockName | undefined {
    return this.isByContent ? this.#names.get(hash) : hash
  }

  /** Forgets a block that is no longer held anywhere: its hash is not looked up again until it is stored. */
  forget(hash: BlockHash): void {
    this.#names.delete(hash)
  }

  forgetAll(): void {
    this.#names.clear()
  }

  namesOfPrompt(tokens: ArrayLike<number>, blockSize: number, salt: string | undefined): BlockName[] {
    if (this.#hashesOf) return this.#hashesOf(tokens, blockSize, salt)
    // as vLLM reports it: the salt is an extra key of the first block
    const extra = salt === undefined || salt === '' ? undefined : JSON.stringify([salt])
    let before: BlockName | undefined
    return Array.from({ length: Math.floor(tokens.length / blockSize) }, (_, i) => {
      before = nameBlock(before, tokens, i * blockSize, blockSize, i === 0 ? extra : undefined)
      return before
    })
  }
}

/** Holds what is hashed: the name of the previous block, and the tokens. */
let scratch = Buffer.alloc(nameBytes + 1024 * bytesPerToken)

/** 64 bits of SHA-256 over the previous block's name, the tokens, and the block's extra keys. */
function nameBlock(
  before: BlockName | undefined,
  tokens: ArrayLike<number>,
  start: number,
  count: number,
  extra: string | undefined,
): BlockName {
  const length = nameBytes + count * bytesPerToken
  if (scratch.length < length) scratch = Buffer.alloc(length)
  if (before === undefined) scratch.fill(0, 0, nameBytes)
  else scratch.write(before as string, 0, 'binary')
  const words = new Uint32Array(scratch.buffer, scratch.byteOffset + nameBytes, count)
  for (let i = 0; i < count; i++) words[i] = tokens[start + i]!
  const content = scratch.subarray(0, length)
  // a binary string: a Buffer for each digest takes five times as long
  const digest = hash('sha256', extra === undefined ? content : Buffer.concat([content, Buffer.from(extra)]), 'binary')
  return digest.slice(0, nameBytes)
}
