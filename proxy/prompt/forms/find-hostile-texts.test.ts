import { describe, expect, it } from 'vitest'
import { findContextLists } from './find-context-lists.ts'
import { hostileTexts } from './hostile-texts.fixture.ts'

describe('a hostile text', () => {
  // `npm run bench -- detection` reports how long each takes; quadratic time would exceed the test timeout
  it.each(Object.entries(hostileTexts))('of %s costs time in proportion to its length', (_, write) => {
    expect(findContextLists(write(4_000_000))).toBeDefined()
  })
})
