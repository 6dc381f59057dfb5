import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SeenSpans } from './seen-spans.ts'

// without a bias towards equal words: paragraphs of equal words have no anchors
const paragraph = fc.noBias(
  fc.array(fc.stringMatching(/^[a-z]{4,12}$/), { minLength: 300, maxLength: 400 }).map((words) => words.join(' ')),
)
const paragraphs = fc.uniqueArray(paragraph, { minLength: 3, maxLength: 8 })

test('what was sent is found again in any order, whatever stands between, but for the spans at its edges', () => {
  fc.assert(
    fc.property(paragraphs, fc.integer(), (blocks, secret) => {
      const seen = new SeenSpans(secret)
      expect(seen.note('t', blocks).seen).toBe(0)
      const again = blocks.toReversed().map((block, i) => `[${i}] ${block} (${i * 7_919})`)
      const { seen: known, all } = seen.note('t', [again.join('')])
      const text = blocks.join('').length
      // two edges of about 64 characters per block; 1,024 without a common anchor are practically impossible
      expect(known).toBeGreaterThan(text - blocks.length * 1_024)
      expect(known).toBeLessThanOrEqual(all)
    }),
    // whether spans meet again is a matter of chance: use the same draws each time
    { numRuns: 50, seed: 1 },
  )
})

test('a prompt is known in whole the second time, and to no other tenant', () => {
  fc.assert(
    fc.property(paragraphs, (blocks) => {
      const seen = new SeenSpans(7)
      seen.note('t', blocks)
      const { seen: known, all } = seen.note('t', blocks)
      expect(known).toBe(all)
      expect(seen.note('u', blocks).seen).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('what a request repeats itself is not what was sent before', () => {
  const seen = new SeenSpans(7)
  const line = 'the same line again and again, from the first to the last\n'
  expect(seen.note('t', [line.repeat(20), line.repeat(20)])).toEqual({ seen: 0, all: 40 * line.length })
  expect(seen.note('t', [line.repeat(3)]).seen).toBe(3 * line.length)
})

test('what was not seen for longest is forgotten', () => {
  const seen = new SeenSpans(7, 4)
  const lines = Array.from({ length: 12 }, (_, i) => `line number ${i} of some length\n`)
  for (const line of lines) seen.note('t', [line])
  expect(seen.note('t', [lines[0]!]).seen).toBe(0)
  expect(seen.note('t', [lines[11]!]).seen).toBe(lines[11]!.length)
})
