import { get_encoding } from 'tiktoken'
import { describe, expect, it } from 'vitest'
import { PromptTokens, Tokenizer } from './tokenizer.ts'

const tokenizer = new Tokenizer()

function encode(text: string, limit = Number.POSITIVE_INFINITY): PromptTokens {
  const prompt = new PromptTokens(limit)
  tokenizer.encode(text, prompt)
  return prompt
}

describe('Tokenizer', () => {
  it('is o200k_base, also the second time', () => {
    const text = 'Hello, world!\nA second line of 12345 words.\n\n  indented\n'.repeat(100)
    const expected = get_encoding('o200k_base').encode_ordinary(text)
    expect(encode(text).toArray()).toEqual(expected)
    expect(encode(text).toArray()).toEqual(expected)
  })

  it('takes the names of special tokens and lone surrogates as text', () => {
    expect(encode('<|endoftext|>').length).toBeGreaterThan(1)
    expect(encode('\ud800').toArray()).toEqual(encode('\ufffd').toArray())
    expect(encode('').length).toBe(0)
  })

  it('stops when the prompt is longer than its limit', () => {
    const prompt = encode('a word '.repeat(5_000_000), 1000)
    expect(prompt.overfull).toBe(true)
    expect(prompt.length).toBeLessThan(1600)
  })

  it('is not slowed down by a megabyte of one letter', () => {
    const prompt = encode('a'.repeat(1 << 20), 131_072)
    expect(prompt.length).toBeGreaterThan(131_000)
    // in quadratic time, this test would time out
  })
})
