import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FoldedText } from './folded-text.ts'

const letters = fc.constantFrom('a', 'B', '7', ' ', '\n', '\t', '\u3000', '.', '-', '】', 'é', '漢', '😀', '"')
const texts = fc.array(letters, { maxLength: 80 }).map((all) => all.join(''))
const fold = (text: string): string => text.trim().replace(/\s+/g, ' ')

test('runs of white space are one space, and there is none at the ends', () => {
  const folded = new FoldedText()
  fc.assert(
    fc.property(texts, (text) => {
      folded.read(text)
      expect(folded.length).toBe(fold(text).length)
    }),
  )
})

test('every character of it that is no space is found again in the text', () => {
  const folded = new FoldedText()
  fc.assert(
    fc.property(texts, (text) => {
      folded.read(text)
      const expected = fold(text)
      for (let at = 0; at < expected.length; at++) {
        if (expected[at] !== ' ') expect(text[folded.placeOf(at)]).toBe(expected[at])
      }
    }),
  )
})

test('stretches have the same hashes wherever they stand, whatever white space they hold', () => {
  const [one, other] = [new FoldedText(), new FoldedText()]
  fc.assert(
    fc.property(texts, texts, texts, (front, middle, behind) => {
      const stretch = fold(middle)
      if (stretch === '') return
      one.read(middle)
      other.read(`${front}| ${middle.replaceAll(' ', '\n')} |${behind}`)
      const start = fold(`${front}|`).length + 1
      expect(other.hashOf(start, stretch.length)).toBe(one.hashOf(0, stretch.length))
      expect(other.digestOf(start, stretch.length)).toEqual(one.digestOf(0, stretch.length))
    }),
  )
})

test('hashes of long stretches are worked out, too', () => {
  const [one, other] = [new FoldedText(), new FoldedText()]
  const long = 'some words that go on '.repeat(2_000).trim()
  one.read(long)
  other.read(`x ${long}`)
  expect(other.hashOf(2, long.length)).toBe(one.hashOf(0, long.length))
})
