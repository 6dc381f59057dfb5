import type { SentContext, SentPrompt } from '#index/cache-event.ts'
import { digestOf, type ScopeId } from '#index/context-block.ts'

/** Texts of at least this length are hashed separately, because joining them first would copy them. */
const longText = 1_024

/**
 * Follows a prompt as it is written and records the identity of every prefix that ends where a block begins or ends.
 */
export class SentPromptWriter {
  /** identity of everything before the last mark, plus what was written since then (long texts as digests) */
  #chain = ''
  readonly #prefixes: ScopeId[] = []
  readonly #ends: number[] = []
  readonly #contexts: SentContext[] = []
  #length = 0

  /** Adds the next text of the prompt. */
  write(text: string): void {
    this.#chain += text.length < longText ? `${text.length}:${text}` : `#${text.length}:${digestOf(text)}`
    this.#length += text.length
  }

  /**
   * Adds a block of `length` characters by its unique identity, because reading it again would cost as much as all
   * else.
   */
  writeBlock(identity: string, length: number): void {
    this.#chain += `=${identity.length}:${identity}`
    this.#length += length
  }

  /** Records the prefix that ends here and returns its identity. */
  mark(): ScopeId {
    const prefix = digestOf(this.#chain)
    this.#chain = prefix
    this.#prefixes.push(prefix)
    this.#ends.push(this.#length)
    return prefix
  }

  /** Number of characters written so far. */
  get length(): number {
    return this.#length
  }

  /** Records a context whose blocks have been written. */
  addContext({ scope, blocks, sizes, ends }: SentContext): void {
    this.#contexts.push({ scope, blocks: blocks.slice(), sizes: sizes.slice(), ends: ends.slice() })
  }

  /** What has been written so far. Arrays are copied to their exact length, because many of them are kept. */
  get prompt(): SentPrompt {
    const contexts = this.#contexts.slice()
    return { contexts, prefixes: this.#prefixes.slice(), ends: this.#ends.slice(), length: this.#length }
  }
}
