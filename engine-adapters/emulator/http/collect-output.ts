import type { OutputToken } from '../engine-core.ts'

/** Runs a request to its end; resolves to all its text. */
export async function collectOutput(
  tokens: AsyncIterable<OutputToken>,
): Promise<{ text: string; cachedTokens: number }> {
  const output = { text: '', cachedTokens: 0 }
  for await (const token of tokens) {
    output.text += token.text
    output.cachedTokens = token.cachedTokens
  }
  return output
}
