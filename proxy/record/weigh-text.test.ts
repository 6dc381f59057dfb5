import { get_encoding } from 'tiktoken'
import { expect, test } from 'vitest'
import { weighText } from './weigh-text.ts'

const encoding = get_encoding('o200k_base')

test.each([
  'You are the documentation assistant of a software team. Answer the question from the documents given with it.',
  '<document index="12" source="guides/getting-started.md">\n',
  '\n</document>\n<document index="3" source="b.md">\n',
  'Please read the context in the following priority order: [3] > [12] > [1] > [2] and answer the question.',
  'Marie Curie (1867 to 1934) was a physicist. She was born on 7 November 1867 in Warsaw.',
  'export function toList(value: unknown): string[] {\n  return Array.isArray(value) ? value : [String(value)]\n}\n',
  'Größe und Gewicht der Geräte stehen auf der Rückseite; für Rückfragen ist der Händler zuständig.',
  '巴黎是法国的首都，也是该国最大的城市。',
])('a text weighs about as much as it has tokens: %j', (text) => {
  const tokens = encoding.encode_ordinary(text).length
  expect(weighText(text) / tokens).toBeGreaterThan(0.7)
  expect(weighText(text) / tokens).toBeLessThan(1.4)
})

test('nothing weighs nothing', () => {
  expect(weighText('')).toBe(0)
})
