import { describe, expect, it } from 'vitest'
import { findContextLists } from './find-context-lists.ts'
import { hostileTexts } from './hostile-texts.fixture.ts'

/** CPU time, since other processes take turns: in milliseconds. */
function timeOf(text: string): number {
  const started = process.cpuUsage()
  findContextLists(text)
  return process.cpuUsage(started).user / 1_000
}

describe('a hostile text', () => {
  // `npm run bench -- detection` says how long each takes; the bounds here only tell linear from worse
  it.each(Object.entries(hostileTexts))('of %s costs time in proportion to its length', (_, write) => {
    const [half, whole] = [write(2_000_000), write(4_000_000)]
    const shortest = Math.min(timeOf(half), timeOf(half))
    const longest = Math.min(timeOf(whole), timeOf(whole))
    expect(longest).toBeLessThan(3 * shortest + 250)
    expect(longest).toBeLessThan(2_000)
  })
})
