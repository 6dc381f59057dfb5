import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { alignTokens } from './score-answer.ts'

const tokensOf = (...texts: string[]): { text: string; logprob: number }[] =>
  texts.map((text, i) => ({ text, logprob: -i }))

describe('alignTokens', () => {
  test('takes the tokens at the end that make up the answer', () => {
    expect(alignTokens(tokensOf('Is', ' it', '?', '\n', 'Yes', ',', ' it'), 'Yes, it')).toEqual([-4, -5, -6])
  })

  test('takes a token that begins in front of the answer', () => {
    expect(alignTokens(tokensOf('a', ':Yes', ' so'), 'Yes so')).toEqual([-1, -2])
  })

  test('compares no white space: some tokenizers leave it out', () => {
    expect(alignTokens(tokensOf('x', 'Yes', 'it', 'is'), 'Yes it\nis ')).toEqual([-1, -2, -3])
  })

  test('counts tokens that are only part of a character', () => {
    expect(alignTokens(tokensOf('x', ' ', '', '😀', '.'), '😀.')).toEqual([-3, -4])
    expect(alignTokens(tokensOf('a', '', '', '😀', '.'), 'a😀.')).toEqual([-0, -1, -2, -3, -4])
  })

  test('says nothing if the prompt ends otherwise, or is only the end of the answer', () => {
    expect(alignTokens(tokensOf('a', 'No', '<|end|>'), 'No')).toBeUndefined()
    expect(alignTokens(tokensOf('b'), 'ab')).toBeUndefined()
    expect(alignTokens([], 'a')).toBeUndefined()
  })

  test('finds just the tokens that the answer was cut into', () => {
    const word = fc.stringMatching(/^ ?[a-z]{1,4}$/)
    fc.assert(
      fc.property(fc.array(word), fc.array(word, { minLength: 1 }), (front, answer) => {
        const tokens = tokensOf(...front, '|', ...answer)
        expect(alignTokens(tokens, answer.join(''))).toEqual(answer.map((_, i) => -(front.length + 1 + i)))
      }),
    )
  })
})
