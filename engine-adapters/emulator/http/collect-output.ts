import type { OutputToken } from '../engine-core.ts'

/** How a request's prompt was served, and everything that was generated for it. */
export interface Output extends Pick<OutputToken, 'text' | 'cachedTokens' | 'reusedTokens' | 'pages'> {}

/** Runs a request to its end and returns its whole output. */
export async function collectOutput(tokens: AsyncIterable<OutputToken>): Promise<Output> {
  const output: Output = { text: '', cachedTokens: 0, reusedTokens: undefined }
  for await (const { text, cachedTokens, reusedTokens, pages } of tokens) {
    output.text += text
    output.cachedTokens = cachedTokens
    output.reusedTokens = reusedTokens
    output.pages = pages
  }
  return output
}
