import type { OutputToken } from '../engine-core.ts'

/** How a request's prompt was served, and everything that was generated for it. */
export interface Output extends Omit<OutputToken, 'index'> {}

/** Runs a request to its end and returns its whole output. */
export async function collectOutput(tokens: AsyncIterable<OutputToken>): Promise<Output> {
  let output: Output = { text: '', cachedTokens: 0, reusedTokens: undefined }
  for await (const { index: _, text, ...counts } of tokens) output = { text: output.text + text, ...counts }
  return output
}
