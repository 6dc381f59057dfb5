import { expect, test } from 'vitest'
import { explainRefusal } from './reasons.ts'

test('a refusal is told with its line, its first words and a remedy', () => {
  const text = 'You help.\n\n[1] It rained\n  all day.\n[2] The sun shone.'
  expect(explainRefusal(text, 'no_evidence', { start: 11, end: text.length })).toEqual({
    reason: 'no_evidence',
    line: 3,
    begins: '[1] It rained all day. [2] The sun shone.',
    remedy: expect.stringContaining('Question:'),
  })
})
