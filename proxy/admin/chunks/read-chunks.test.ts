import { expect, test } from 'vitest'
import { readChunks } from './read-chunks.ts'

test.each([
  ['{"text":3}', /line 1: 'text' has to be a text, not a number/],
  ['[{"text":"a"},{"text":null}]', /chunk 2: 'text' has to be a text, not null/],
  ['{"chunks":[{"text":["a"]}]}', /chunk 1: 'text' has to be a text, not a list/],
  ['{"chunks":[{"id":"a","body":"b"}]}', /chunk 1 has no text: .*\(it has id, body\)/],
  ['{"text":"a"}\n{"id":1', /line 2 is not valid JSON/],
])('what is wrong is said with its place: %s', (body, message) => {
  expect(() => readChunks(body)).toThrow(message)
})
