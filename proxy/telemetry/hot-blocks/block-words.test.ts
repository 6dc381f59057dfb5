import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockId } from '#index/context-block.ts'
import type { PromptContext } from '../../prompt/body/prompt-context.ts'
import { BlockWords, wordsOf } from './block-words.ts'

const contextOf = (text: string): PromptContext => {
  const content = { start: 0, end: text.length }
  return { slots: [{ text: 0, content, ...content }], blocks: ['id'], contents: ['id'] } as unknown as PromptContext
}

test('words are the beginning of the block, in one short line', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 500 }), (text) => {
      const [words] = wordsOf(contextOf(text), [text])
      expect(words!.length).toBeLessThanOrEqual(58)
      expect(words).not.toMatch(/[\n\r\t]/)
      const line = text.slice(0, 224).replace(/\s+/g, ' ').trim()
      expect(line.startsWith(words!.replace(/ …$/, ''))).toBe(true)
    }),
  )
})

test('words are known once they were noted, and forgotten when they may no longer be shown', () => {
  const words = new BlockWords()
  const text = 'The harbour lies in the east.\nShips come daily.'
  words.note([{ found: contextOf(text) }], [text])
  expect(words.get('id' as BlockId)).toBe('The harbour lies in the east. Ships come daily.')
  expect(words.get('other' as BlockId)).toBeUndefined()
  words.clear()
  expect(words.get('id' as BlockId)).toBeUndefined()
})
