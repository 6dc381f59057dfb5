import { expect, test } from 'vitest'
import { hashWords } from './hash-words.ts'

test.each([
  ['case and marks', 'The Quick, brown-fox!', 'brown fox quick the'],
  ['accents and other scripts', 'Élan «Привет»', 'привет élan'],
  ['words of one or two letters', 'a bc def', 'def'],
  ['at the end of a text', 'one two', 'two one'],
])('same words: %s', (_, a, b) => {
  expect(hashWords(a)).toEqual(hashWords(b))
})

test('scripts without spaces are read two characters at a time', () => {
  const [text, question, other] = [hashWords('東京の天気は晴れです'), hashWords('今日の東京'), hashWords('大阪')]
  expect([...question].filter((word) => text.has(word))).toHaveLength(1)
  expect([...other].filter((word) => text.has(word))).toHaveLength(0)
})

test('of a long text its begin, its middle and its end are read', () => {
  const filler = 'x '.repeat(4_000)
  const words = hashWords(`begin ${filler} middle ${filler} end`)
  expect(words).toEqual(hashWords('begin middle end'))
  expect(hashWords(`${filler}${'unread '.repeat(2)}${filler}${filler}`).size).toBe(0)
})
