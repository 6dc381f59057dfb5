import { get_encoding, type Tiktoken } from 'tiktoken'

// takes 0.15 s to build, so it is built when the first text is counted
let encoding: Tiktoken | undefined

/** Returns the number of o200k_base tokens of a text; names of special tokens count as ordinary text. */
export function countTokens(text: string): number {
  encoding ??= get_encoding('o200k_base')
  return encoding.encode_ordinary(text).length
}
