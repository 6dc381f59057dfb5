import { describe, expect, it } from 'vitest'
import { contentsOf } from './found-lists.fixture.ts'

describe('facts below a date of their own', () => {
  it('are found in a container for facts, however short', () => {
    const facts = ['Ann owns a boat', 'Bo likes tea', 'Cy has two'].map((fact, i) => ({
      fact,
      valid_at: `202${i % 2}-01-01`,
    }))
    expect(contentsOf(`<FACTS>\n${JSON.stringify(facts)}\n</FACTS>`, { asked: true })[0]).toHaveLength(3)
    expect(contentsOf(`<rules>\n${JSON.stringify(facts)}\n</rules>`, { asked: true })).toEqual([])
  })
})
