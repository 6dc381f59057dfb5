import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromSpans, toLabels, toSpans } from './certain-list.ts'
import type { BlockSpan } from './context-list.ts'

const text = `Use:\n${[1, 2, 3].map((n) => `Note ${n}: text ${n}`).join('\n')}\n</all>\nWhy?`
const blocks = [1, 2, 3].map((n): BlockSpan => {
  const start = text.indexOf(`Note ${n}`)
  const span = { start, end: start + 14, contentStart: start + 8, contentEnd: start + 14 }
  return { ...span, label: { start: start + 5, end: start + 6 } }
})
const list = { blocks, positional: true, labelPrefix: 'Note ', end: text.indexOf('\nWhy') }

test('a list is restored from where it was, with its labels and its end', () => {
  expect(fromSpans(toSpans(list), toLabels(blocks), text)).toMatchObject({ ...list, certain: { by: 'sent' } })
  const bare = blocks.map(({ label: _, ...block }) => block)
  const plain = { blocks: bare, positional: false, labelPrefix: '', end: bare.at(-1)!.end }
  expect(toSpans(plain)).toHaveLength(12)
  expect(fromSpans(toSpans(plain), [], text)).toMatchObject(plain)
})

test('property: what does not fit the text is not believed', () => {
  const damaged = fc.record({ at: fc.nat(18), to: fc.nat(200) })
  fc.assert(
    fc.property(damaged, fc.nat(13), ({ at, to }, length) => {
      const [spans, labels] = [toSpans(list), toLabels(blocks)]
      if (at < spans.length) spans[at] = to
      else labels[at - spans.length] = to
      const restored = fromSpans(spans.slice(0, length), labels, text)
      let end = 0
      for (const block of restored?.blocks ?? []) {
        expect(block.start).toBeGreaterThanOrEqual(end)
        expect(block.label!.end).toBeLessThanOrEqual(block.contentStart)
        expect(block.contentEnd).toBeGreaterThan(block.contentStart)
        end = block.end
      }
      if (restored) expect(restored.end).toBeGreaterThanOrEqual(end)
      if (restored) expect(restored.end).toBeLessThanOrEqual(text.length)
    }),
    { numRuns: 2_000 },
  )
  expect(fromSpans([0, 5], [], text)).toBeUndefined()
  expect(fromSpans(toSpans(list), toLabels(blocks).slice(0, 2), text)).toBeUndefined()
})
