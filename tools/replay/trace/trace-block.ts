import { get_encoding, type Tiktoken } from 'tiktoken'
import type { BlockId } from '#index/context-block.ts'

// takes 0.15 s to build, so it is built when the first text is counted
let encoding: Tiktoken | undefined

/** A part of a block's text. Those of equal keys are equal, in whichever block they are. */
interface Stretch {
  readonly key: string
  readonly characters: number
}

export class TraceBlock {
  readonly id: string | number
  /** The string "1" and the number 1 are different blocks. */
  readonly key: BlockId
  readonly text: string | undefined
  /** its parts, in order; undefined: it is a single part */
  readonly stretches: readonly Stretch[] | undefined
  /** as JavaScript counts them; undefined: not known */
  readonly characters: number | undefined
  #tokens: number | undefined

  constructor(
    id: string | number,
    content: {
      readonly text?: string | undefined
      /** undefined: count them in the text */
      readonly tokens?: number | undefined
      readonly characters?: number | undefined
      readonly stretches?: readonly Stretch[] | undefined
    },
  ) {
    this.id = id
    this.key = keyOf(id)
    this.text = content.text
    this.stretches = content.stretches
    this.characters = content.text?.length ?? content.characters
    this.#tokens = content.tokens
  }

  /** Number of tokens. Those of a text are counted on first use because not every reader of a trace needs it. */
  get tokens(): number {
    this.#tokens ??= countTokens(this.text!)
    return this.#tokens
  }
}

/** Returns the identity of a block in the index. */
export function keyOf(id: string | number): BlockId {
  return JSON.stringify(id) as BlockId
}

/** Returns the number of o200k_base tokens of a text; names of special tokens count as ordinary text. */
function countTokens(text: string): number {
  encoding ??= get_encoding('o200k_base')
  return encoding.encode_ordinary(text).length
}
