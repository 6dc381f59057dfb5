import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BlockId, toBlockId } from '#index/context-block.ts'
import type { PromptPart } from '../reuse/two-worlds.ts'
import { SeenSpans } from './seen-spans.ts'

const asText = (text: string): PromptPart => ({ text, block: undefined })
const asBlock = (text: string): PromptPart => ({ text, block: toBlockId(text) })

// without a bias towards equal words: paragraphs of equal words have no anchors
const paragraph = fc.noBias(
  fc.array(fc.stringMatching(/^[a-z]{4,12}$/), { minLength: 300, maxLength: 400 }).map((words) => words.join(' ')),
)
const paragraphs = fc.uniqueArray(paragraph, { minLength: 3, maxLength: 8 })

test('what was sent is found again in any order, whatever stands between, but for the spans at its edges', () => {
  fc.assert(
    fc.property(paragraphs, fc.integer(), (blocks, secret) => {
      const seen = new SeenSpans(secret)
      expect(seen.note('t', blocks.map(asText)).seen).toBe(0)
      const again = blocks.toReversed().map((block, i) => `[${i}] ${block} (${i * 7_919})`)
      const { seen: known, all } = seen.note('t', [asText(again.join(''))])
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
      const parts = blocks.map((text, i) => (i % 2 === 0 ? asBlock(text) : asText(text)))
      seen.note('t', parts)
      const { seen: known, all } = seen.note('t', parts)
      expect(known).toBe(all)
      expect(all).toBe(blocks.join('').length)
      expect(seen.note('u', parts).seen).toBe(0)
    }),
    { numRuns: 50 },
  )
})

test('what a request repeats itself is not what was sent before', () => {
  const seen = new SeenSpans(7)
  const line = 'the same line again and again, from the first to the last\n'
  expect(seen.note('t', [asText(line.repeat(20)), asText(line.repeat(20))])).toEqual({ seen: 0, all: 40 * line.length })
  expect(seen.note('t', [asText(line.repeat(3))]).seen).toBe(3 * line.length)
})

test('a block that was sent is found whether it is found as one or not, but for the spans at its edges', () => {
  fc.assert(
    fc.property(paragraph, (text) => {
      const seen = new SeenSpans(7)
      seen.note('t', [asBlock(text)])
      expect(seen.note('t', [asText(`Before. ${text}`)]).seen).toBeGreaterThan(text.length - 1_024)
      const other = new SeenSpans(7)
      other.note('t', [asText(text)])
      expect(other.note('t', [asBlock(text)])).toEqual({ seen: text.length, all: text.length })
    }),
    { numRuns: 50 },
  )
})

test('a known block is not read again', () => {
  const seen = new SeenSpans(7)
  const block = 'b' as BlockId
  seen.note('t', [{ text: 'A text of some length.', block }])
  expect(seen.note('t', [{ text: 'Other words of length.', block }]).seen).toBe(22)
})

test('what was not seen for longest is forgotten', () => {
  const seen = new SeenSpans(7, 4)
  const lines = Array.from({ length: 12 }, (_, i) => `line number ${i} of some length\n`)
  for (const line of lines) seen.note('t', [asText(line)])
  expect(seen.note('t', [asText(lines[0]!)]).seen).toBe(0)
  expect(seen.note('t', [asText(lines[11]!)]).seen).toBe(lines[11]!.length)
})
