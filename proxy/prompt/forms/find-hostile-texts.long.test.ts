import { describe, it } from 'vitest'
import { expectLinear } from '../../http/bounds/linear-time.fixture.ts'
import { findContextLists } from './found-lists.fixture.ts'
import { hostileTexts } from './hostile-texts.fixture.ts'

// small enough that no limit on the number of marks hides what they cost
const characters = 50_000

describe('a hostile text', () => {
  it.each(Object.entries(hostileTexts))('of %s costs time in proportion to its length', (_, write) => {
    expectLinear((size) => findContextLists(write(size)), characters)
  })
})
