import { describe, expect, it } from 'vitest'
import { CannedText } from './canned-text.ts'
import { PromptTokens, Tokenizer } from './tokenizer.ts'

describe('CannedText', () => {
  it('tokenises to the tokens it is made of, however long it is', () => {
    const tokenizer = new Tokenizer()
    const canned = new CannedText(tokenizer)
    let text = ''
    const tokens: number[] = []
    for (let index = 0; index < 100; index++) {
      text += canned.text(index)
      tokens.push(canned.token(index))
      const prompt = new PromptTokens(Number.POSITIVE_INFINITY)
      tokenizer.encode(text, prompt)
      expect([...prompt.toArray()]).toEqual(tokens)
    }
    expect(text).toMatch(/^This is canned text from an engine emulator\. It is not a model/)
  })
})
