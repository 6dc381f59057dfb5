import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outcomes, skippedReasons } from '../../common/reasons.ts'

interface Line {
  readonly text: string
  readonly kind?: string
}

// modules of the page: plain JavaScript, as browsers load it
const { diffLines, linesOf } = await import(new URL('page/diff-lines.js', import.meta.url).href)
const { niceTop, onAxis } = await import(new URL('page/draw-chart.js', import.meta.url).href)
const { outcomeWords, skippedWords } = await import(new URL('page/show-lists.js', import.meta.url).href)
const { bucketsOf, totalOf, ratioOf } = await import(new URL('page/sum-samples.js', import.meta.url).href)

describe('the diff of a request', () => {
  const textsOf = (lines: readonly Line[]): string[] => lines.map(({ text }) => text)

  test('holds every line of both, in order, and calls nothing changed that stands in both', () => {
    const lines = fc.array(
      fc.constantFrom('a', 'b', 'c', 'd').map((text) => ({ text })),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff: Line[] = diffLines(before, after)
        expect(textsOf(diff.filter(({ kind }) => kind !== 'add'))).toEqual(textsOf(before))
        expect(textsOf(diff.filter(({ kind }) => kind !== 'del'))).toEqual(textsOf(after))
        if (textsOf(before).join() === textsOf(after).join()) expect(diff.every(({ kind }) => kind === '')).toBe(true)
      }),
    )
  })

  test('shows texts line by line, with where they stand', () => {
    expect(textsOf(linesOf({ n: 1, messages: [{ content: 'x\ny' }, { content: null }] }))).toEqual([
      'n: 1',
      'messages[0].content:',
      'x',
      'y',
      'messages[1].content: null',
    ])
  })
})

test('there are words for every reason and every outcome, and for nothing else', () => {
  expect(Object.keys(skippedWords).toSorted()).toEqual(skippedReasons.toSorted())
  expect(Object.keys(outcomeWords).toSorted()).toEqual(outcomes.toSorted())
})

test('the values beside an axis differ, however small they are', () => {
  for (const most of [0, 0.05, 0.3, 1, 3, 90, 5_000]) {
    const values = [0, 0.25, 0.5, 0.75, 1].map((share) => onAxis(share * niceTop(most)))
    expect(new Set(values).size).toBe(5)
  }
  expect([0, 0.01, 0.025, 0.25].map(onAxis)).toEqual(['0', '0.01', '0.025', '0.25'])
})

describe('the sums of samples', () => {
  const sample = (at: number, n: number): Record<string, number> => ({
    at,
    requests: n,
    prompt_tokens: 10 * n,
    cached_tokens: 4 * n,
    reused_tokens: 2 * n,
    recomputed_tokens: n,
    predicted_cached_tokens: 5 * n,
    seen_tokens: 8 * n,
    overhead_seconds: 0.001 * n,
    decided: n,
    first_byte_seconds: n,
    answered: n,
  })

  test('are what happened between samples of the range', () => {
    const samples = [0, 10, 20, 30].map((second) => sample(1_000_000 + 1000 * second, second))
    const total = totalOf(bucketsOf(samples, 20))
    expect(total).toMatchObject({ requests: 30, prompt_tokens: 300, seconds: 30 })
    expect(totalOf(bucketsOf(samples, 5))).toMatchObject({ requests: 10, seconds: 10 })
    expect(ratioOf(total.cached_tokens, total.prompt_tokens)).toBe(0.4)
  })

  test('take a restart of the proxy, where counters fall, for no negative traffic', () => {
    const buckets = bucketsOf([sample(1_000, 50), sample(11_000, 3), sample(21_000, 5)], 600)
    expect(totalOf(buckets).requests).toBe(2)
  })

  test('of nothing are nothing', () => {
    expect(totalOf(bucketsOf([sample(1_000, 5)], 600))).toMatchObject({ requests: 0, seconds: 0 })
    expect(ratioOf(0, 0)).toBeUndefined()
  })
})
