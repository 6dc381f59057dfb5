import { get_encoding, type Tiktoken } from 'tiktoken'

// 0.15 s to build, so only when the first text is counted
let encoding: Tiktoken | undefined

/** The tokens of a text in o200k_base; names of special tokens are ordinary text. */
export function encodeText(text: string): Uint32Array {
  encoding ??= get_encoding('o200k_base')
  return encoding.encode_ordinary(text)
}

/** How many tokens o200k_base makes of a text. */
export function countTokens(text: string): number {
  return encodeText(text).length
}
