import { hash } from 'node:crypto'
import type { BlockName, BlockNaming } from './block-naming.ts'
import type { BlockHash, BlocksStored } from './kv-event.ts'

const nameBytes = 8
const bytesPerToken = 4

/**
 * Blocks are called by what is in them and in front of them, as the engine reports it: for engines whose hashes cannot
 * be computed here (vLLM's xxhash, or with a seed of its own). A block whose parent is not known cannot be named. What is
 * reused at another position has a hash of its own there, and cannot be told from what is exact.
 */
export class ContentNaming implements BlockNaming {
  readonly #names = new Map<BlockHash, BlockName>()

  nameStored({ hashes, parent, tokens, blockSize, extras }: BlocksStored): (BlockName | undefined)[] {
    // placeholders without tokens speak of blocks that may be known, and blocks that were left out cannot be told apart
    if (tokens.length !== hashes.length * blockSize || blockSize === 0) return hashes.map((hash) => this.nameOf(hash))
    let before = parent === undefined ? undefined : this.#names.get(parent)
    if (parent !== undefined && before === undefined) return hashes.map(() => undefined)
    return hashes.map((hash, i) => {
      before = nameBlock(before, tokens, i * blockSize, blockSize, extras[i])
      this.#names.set(hash, before)
      return before
    })
  }

  nameOf(hash: BlockHash): BlockName | undefined {
    return this.#names.get(hash)
  }

  forget(hash: BlockHash): void {
    this.#names.delete(hash)
  }

  forgetAll(): void {
    this.#names.clear()
  }

  namesOfPrompt(tokens: ArrayLike<number>, blockSize: number, salt: string | undefined): BlockName[] {
    // as vLLM says it: the salt is an extra key of the first block
    const extra = salt === undefined || salt === '' ? undefined : JSON.stringify([salt])
    let before: BlockName | undefined
    return Array.from({ length: Math.floor(tokens.length / blockSize) }, (_, i) => {
      before = nameBlock(before, tokens, i * blockSize, blockSize, i === 0 ? extra : undefined)
      return before
    })
  }
}

/** What is hashed: the name of the block in front, and the tokens. */
let scratch = Buffer.alloc(nameBytes + 1024 * bytesPerToken)

/** 64 bits of SHA-256 of the block in front, the tokens, and what else tells the block apart. */
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
  // a string of bytes: a Buffer for each digest takes five times as long
  const digest = hash('sha256', extra === undefined ? content : Buffer.concat([content, Buffer.from(extra)]), 'binary')
  return digest.slice(0, nameBytes)
}
