import type { SentContext, SentPrompt } from '#index/cache-event.ts'
import { digestOf, type ScopeId } from '#index/context-block.ts'

/** Longer texts are taken in by a hash of their own: to join them first would copy them. */
const longText = 1_024

/** Follows a prompt as it is written and notes the identity of every prefix that ends where a block begins or ends. */
export class SentPromptWriter {
  /** identity of what stands in front of the last mark, and what has come since, long texts by their identity */
  #chain = ''
  readonly #prefixes: ScopeId[] = []
  readonly #ends: number[] = []
  readonly #contexts: SentContext[] = []
  #length = 0

  /** Takes in what comes next in the prompt. */
  write(text: string): void {
    this.#chain += text.length < longText ? `${text.length}:${text}` : `#${text.length}:${digestOf(text)}`
    this.#length += text.length
  }

  /** Takes in a block of so many characters by what tells it from all others: reading it again would cost as much as all else. */
  writeBlock(identity: string, length: number): void {
    this.#chain += `=${identity.length}:${identity}`
    this.#length += length
  }

  /** Notes the prefix that ends here. */
  mark(): ScopeId {
    const prefix = digestOf(this.#chain)
    this.#chain = prefix
    this.#prefixes.push(prefix)
    this.#ends.push(this.#length)
    return prefix
  }

  /** How much has been written, in characters. */
  get length(): number {
    return this.#length
  }

  /** Notes a context whose blocks have been written. */
  addContext({ scope, blocks, sizes, ends }: SentContext): void {
    this.#contexts.push({ scope, blocks: blocks.slice(), sizes: sizes.slice(), ends: ends.slice() })
  }

  /** What has been written so far; many are kept, so arrays are as long as they have to be. */
  get prompt(): SentPrompt {
    const contexts = this.#contexts.slice()
    return { contexts, prefixes: this.#prefixes.slice(), ends: this.#ends.slice(), length: this.#length }
  }
}
