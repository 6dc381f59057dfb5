import { expect, it } from 'vitest'
import type { BlockId } from '#index/context-block.ts'
import { KnownEnds } from './known-cuts.ts'

const words = 'Answer from the documents of 2026-11-30.'

function seen(...blocks: string[]): KnownEnds {
  const ends = new KnownEnds()
  for (const block of blocks) ends.note('chat tenant', words, block as BlockId)
  return ends
}

it('words are the prompt’s once they stood behind three different blocks', () => {
  expect(seen('a', 'b').isConstant('chat tenant', words)).toBe(false)
  expect(seen('a', 'b', 'c').isConstant('chat tenant', words)).toBe(true)
})

it('words that came with one document again and again may be that document’s', () => {
  expect(seen('a', 'a', 'a', 'b', 'a').isConstant('chat tenant', words)).toBe(false)
})

it('other words, and other tenants, are not known', () => {
  const ends = seen('a', 'b', 'c')
  expect(ends.isConstant('chat tenant', `${words} Now.`)).toBe(false)
  // documents that end alike but for a number
  expect(ends.isConstant('chat tenant', words.replace('11-30', '12-01'))).toBe(false)
  expect(ends.isConstant('chat other', words)).toBe(false)
})
