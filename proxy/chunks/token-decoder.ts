import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
let words: readonly string[] | undefined

/**
 * Decodes token ids as LangChain sends them to `/v1/embeddings`: in cl100k_base, whatever the model. Ids of another
 * vocabulary yield a different text that is in no prompt: a mistake costs a place in memory and nothing else. Returns
 * undefined for ids that cl100k_base does not have, and for invalid UTF-8.
 */
export function decodeTokens(tokens: readonly number[]): string | undefined {
  words ??= readWords()
  const pieces: Buffer[] = []
  for (const token of tokens) {
    const word = words[token]
    if (word === undefined) return undefined
    pieces.push(Buffer.from(word, 'base64'))
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))
  } catch {
    return undefined
  }
}

/** Takes 30 ms, once, and only if token ids are received at all. */
function readWords(): string[] {
  const { bpe_ranks } = require('tiktoken/encoders/cl100k_base.json') as { bpe_ranks: string }
  return bpe_ranks.split('\n').flatMap((line) => {
    const [, offset, ...own] = line.split(' ')
    if (offset !== '0') throw new Error('cl100k_base is not in one piece')
    return own
  })
}
