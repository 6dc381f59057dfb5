import { describe, expect, it } from 'vitest'
import { compilePatterns } from './compile-patterns.ts'

describe('a block pattern', () => {
  it.each([
    ['a(b', '', 'unterminated group'],
    ['[a', '', 'unterminated character class'],
    ['a', 'g', 'flags may only be'],
    ['a', 'uv', 'invalid flags'],
    ['', '', 'it is empty'],
    ['a*', '', 'it matches an empty text'],
  ])('like %j with flags %j is refused by its name and with the reason', (pattern, flags, reason) => {
    const message = new RegExp(`^block pattern "notes" is invalid: ${reason}`)
    expect(() => compilePatterns([{ name: 'notes', pattern, flags }])).toThrow(message)
    expect(() => compilePatterns([{ pattern: 'fine' }, { pattern, flags }])).toThrow('block pattern "patterns[1]"')
  })

  it('has a name of its own', () => {
    const twice = [
      { name: 'notes', pattern: 'a' },
      { name: 'notes', pattern: 'b' },
    ]
    expect(() => compilePatterns(twice)).toThrow('block pattern "notes" is named twice; rename one of them')
  })

  it.each([
    ['note: .*', 0, undefined],
    ['note: (.*)', 1, undefined],
    ['(?<label>\\d+): (.*)', 2, 1],
    ['(x)(?<block>y)(?<label>z)', 2, 3],
    ['(?<label>\\d+): .*', 0, 1],
    ['\\((?:a|b)[(](?=c)(?<=c)(?<!d)(d)', 1, undefined],
  ])('like %j says which group is the block and which its label', (pattern, blockGroup, labelGroup) => {
    expect(compilePatterns([{ pattern }])).toMatchObject([{ blockGroup, labelGroup }])
  })
})
