import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeenSegments } from './seen-segments.ts'

/** `count` tokens that no other seed produces. */
const run = (seed: number, count: number): number[] => Array.from({ length: count }, (_, i) => seed * 10_000 + i)
const tokens = (...runs: number[][]): Uint32Array => Uint32Array.from(runs.flat())

function find(seen: SeenSegments, prompt: Uint32Array, from = 0, salt = ''): [number, number][] {
  return seen.find(salt, prompt, { start: from, end: prompt.length }).map(({ start, end }) => [start, end])
}

/** All windows of 16 tokens. */
function windowsOf(prompts: readonly Uint32Array[]): string[] {
  return prompts.flatMap((prompt) =>
    Array.from({ length: Math.max(0, prompt.length - 15) }, (_, at) => prompt.subarray(at, at + 16).join()),
  )
}

describe('SeenSegments', () => {
  it('finds what was seen at any position, as far as it reaches', () => {
    const seen = new SeenSegments(10_000)
    seen.note('', tokens(run(1, 100), run(2, 50)))
    expect(find(seen, tokens(run(3, 7), run(1, 100), run(4, 5), run(2, 40)))).toEqual([
      [7, 107],
      [112, 152],
    ])
  })

  it('finds parts of what was seen, of 32 tokens and more', () => {
    const seen = new SeenSegments(10_000)
    seen.note('', tokens(run(1, 200)))
    expect(find(seen, tokens(run(2, 3), run(1, 200).slice(61, 93), run(3, 3)))).toEqual([[3, 35]])
    expect(find(seen, tokens(run(2, 3), run(1, 200).slice(61, 92), run(3, 3)))).toEqual([])
  })

  it('takes as one what was kept in several pieces', () => {
    const seen = new SeenSegments(10_000)
    seen.note('', tokens(run(1, 1500)))
    expect(find(seen, tokens(run(2, 3), run(1, 1500)))).toEqual([[3, 1503]])
  })

  it('looks no further back than it is told, and counts from there', () => {
    const seen = new SeenSegments(10_000)
    seen.note('', tokens(run(1, 100)))
    expect(find(seen, tokens(run(1, 100)), 60)).toEqual([[60, 100]])
    expect(find(seen, tokens(run(1, 100)), 70)).toEqual([])
  })

  it('never shares between salts', () => {
    const seen = new SeenSegments(10_000)
    seen.note('red', tokens(run(1, 100)))
    expect(find(seen, tokens(run(1, 100)), 0, 'blue')).toEqual([])
    seen.note('blue', tokens(run(1, 100)))
    expect(find(seen, tokens(run(1, 100)), 0, 'red')).toEqual([[0, 100]])
  })

  it('is bounded: what was not used for the longest time goes first', () => {
    const seen = new SeenSegments(300)
    seen.note('', tokens(run(1, 100)))
    seen.note('', tokens(run(2, 100)))
    seen.note('', tokens(run(1, 100)))
    seen.note('', tokens(run(3, 150)))
    expect(seen.size).toBeLessThanOrEqual(300)
    expect(find(seen, tokens(run(1, 100)))).toEqual([[0, 100]])
    expect(find(seen, tokens(run(2, 100)))).toEqual([])
  })

  it('keeps what it knows but once, and forgets all when it is cleared', () => {
    const seen = new SeenSegments(10_000)
    seen.note('', tokens(run(1, 100)))
    seen.note('', tokens(run(2, 40), run(1, 100)))
    expect(seen.size).toBe(140)
    seen.clear()
    expect(seen.size).toBe(0)
    expect(find(seen, tokens(run(1, 100)))).toEqual([])
  })

  it('finds only what is really there, in order and apart', () => {
    const prompt = fc.array(fc.nat(3), { maxLength: 300 }).map((list) => Uint32Array.from(list))
    fc.assert(
      fc.property(fc.array(prompt, { maxLength: 6 }), prompt, (before, asked) => {
        const seen = new SeenSegments(500)
        for (const one of before) seen.note('', one)
        const wasSeen = windowsOf(before)
        let last = 0
        for (const [start, end] of find(seen, asked)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(end - start).toBeGreaterThanOrEqual(32)
          last = end
          // each token is in a window of 16 tokens that some prompt had
          const known = windowsOf([asked.subarray(start, end)]).map((window) => wasSeen.includes(window))
          for (let at = 0; at < end - start; at++) expect(known.slice(Math.max(0, at - 15), at + 1)).toContain(true)
        }
        expect(seen.size).toBeLessThanOrEqual(500)
      }),
    )
  })
})
