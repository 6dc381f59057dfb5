import { encodeCbor } from '../block-hash/cbor.ts'
import { encodePickle } from '../block-hash/pickle.ts'
import { sglangBlockHashes } from '../block-hash/sglang-block-hash.ts'
import { type VllmHashOptions, vllmBlockHashes, vllmDefaultSeed, vllmEventHash } from '../block-hash/vllm-block-hash.ts'
import { type BlockName, type BlockNaming, ContentNaming } from './content-naming.ts'
import type { BlockHash, BlocksStored } from './kv-event.ts'

/** Seeds that vLLM is run with: its own default, and the values that guides recommend for PYTHONHASHSEED. */
const likelySeeds = [vllmDefaultSeed, '0', '42']
const vllmConfigurations = likelySeeds.flatMap((seed) =>
  [encodePickle, encodeCbor].flatMap((encode) =>
    [true, false].map((isSaltTagged): VllmHashOptions => ({ seed, encode, isSaltTagged })),
  ),
)

/**
 * Chooses the naming for an engine from the first blocks that it reports as a prompt's beginning: its own hashes if we
 * compute the same ones, otherwise by content. This does not rely on what an engine says about its configuration.
 */
export function chooseNaming(event: BlocksStored): BlockNaming {
  const { tokens, blockSize, hashes, extras } = event
  const salt = saltOf(extras[0])
  for (const hashesOf of candidates(typeof hashes[0] === 'string')) {
    if (blockSize > 0 && hashesOf(tokens.slice(0, blockSize), blockSize, salt)[0] === hashes[0]) {
      return new HashNaming(hashesOf)
    }
  }
  return new ContentNaming()
}

function candidates(isRaw: boolean): BlockNaming['namesOfPrompt'][] {
  return [
    sglangBlockHashes,
    ...vllmConfigurations.map((options): BlockNaming['namesOfPrompt'] => (tokens, blockSize, salt) => {
      const hashes = vllmBlockHashes(tokens, blockSize, { ...options, salt })
      return hashes.map((digest) => (isRaw ? digest.toString('hex') : vllmEventHash(digest)))
    }),
  ]
}

/** The salt, if it is the block's only extra key. */
function saltOf(extra: string | undefined): string | undefined {
  if (extra === undefined) return undefined
  const keys = JSON.parse(extra) as unknown
  return Array.isArray(keys) && keys.length === 1 && typeof keys[0] === 'string' ? keys[0] : undefined
}

/**
 * Names blocks by the engine's own hashes, which can be computed from a prompt's tokens. So even blocks that were
 * stored before anyone listened are known when they are removed.
 */
class HashNaming implements BlockNaming {
  readonly namesOfPrompt: BlockNaming['namesOfPrompt']

  /** `hashesOf`: the hashes that the engine gives to the full blocks of a prompt. */
  constructor(hashesOf: BlockNaming['namesOfPrompt']) {
    this.namesOfPrompt = hashesOf
  }

  nameStored({ hashes }: BlocksStored): BlockName[] {
    return [...hashes]
  }

  nameOf(hash: BlockHash): BlockName {
    return hash
  }

  forget(): void {}

  forgetAll(): void {}
}
