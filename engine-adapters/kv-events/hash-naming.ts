import type { BlockName, BlockNaming } from './block-naming.ts'
import type { BlockHash, BlocksStored } from './kv-event.ts'

/**
 * Names blocks by the engine's own hashes, which can be computed from a prompt's tokens. So even blocks that were
 * stored before anyone listened are known when they are removed.
 */
export class HashNaming implements BlockNaming {
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
