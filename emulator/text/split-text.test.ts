import fc from 'fast-check'
import { get_encoding } from 'tiktoken'
import { describe, expect, it } from 'vitest'
import { splitText } from './tokenizer.ts'

const encoding = get_encoding('o200k_base')
const encodeWhole = (text: string): number[] => [...encoding.encode_ordinary(text)]
const encodePieces = (text: string): number[] => splitText(text).flatMap(encodeWhole)

// what the pre-tokeniser's rules depend on: newlines, slashes, contractions, marks, odd spaces, digits
const fragments = fc.constantFrom(
  ...['a', 'B', 'Word', "'s", "'LL", '\n', '\r', '\r\n', '\n\n', ' ', '  ', '\t', '/', '//', '!', '...', '123', '0'],
  ...['\u0301', '\u0085', '\u00a0', '\u2028', '\ufeff', '中文', 'ß', '😀', '\ud800', '\udc00', '<|endoftext|>', '١'],
)
const texts = fc.array(fragments, { maxLength: 60 }).map((parts) => parts.join(''))

describe('splitText', () => {
  it('loses nothing', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(1, 40), (text, times) => {
        expect(splitText(text.repeat(times)).join('')).toBe(text.repeat(times))
      }),
    )
  })

  it('tokenises to what the whole text tokenises to', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(encodePieces(text)).toEqual(encodeWhole(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('tokenises long lines with spaces to what the whole line tokenises to', () => {
    const words = fc.array(fc.oneof(fragments, fc.constant(' ')), { minLength: 20, maxLength: 60 })
    fc.assert(
      fc.property(words, (parts) => {
        const line = parts
          .map((part) => `x ${part}`)
          .join('')
          .repeat(20)
        expect(encodePieces(line)).toEqual(encodeWhole(line))
      }),
      { numRuns: 200 },
    )
  })

  it('makes the same pieces of a block wherever it stands', () => {
    const block = 'First line.\nSecond line, with words.\n\nLast line.\n'
    const pieces = splitText(block)
    expect(pieces).toHaveLength(3)
    expect(splitText(`Before:\n${block}After`)).toEqual(['Before:\n', ...pieces, 'After'])
  })

  it('cuts stretches without spaces into bounded pieces, never inside a surrogate pair', () => {
    const pieces = splitText('😀'.repeat(2000) + 'a'.repeat(3000))
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(512)
    expect(pieces.every((piece) => piece.isWellFormed?.() ?? true)).toBe(true)
    expect(splitText('/\n'.repeat(4000)).every((piece) => piece.length <= 512)).toBe(true)
  })
})
