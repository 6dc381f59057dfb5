import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockId } from '#index/context-block.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import { cutPrompt, type Piece } from './recorded-request.ts'

/** A list of blocks in one text, between words of others; each block is its label and its content. */
const prompts = fc.record({
  before: fc.array(fc.string({ maxLength: 20 }), { maxLength: 2 }),
  front: fc.string({ maxLength: 10 }),
  blocks: fc.array(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 5 }),
  gap: fc.constantFrom('', '\n', '\n\n'),
  rest: fc.string({ maxLength: 10 }),
  after: fc.array(fc.string({ maxLength: 20 }), { maxLength: 2 }),
})

test('every character of a prompt is in one piece, in order, and every block in one of its own', () => {
  fc.assert(
    fc.property(prompts, ({ before, front, blocks, gap, rest, after }) => {
      const place = before.length
      let text = front
      const slots = blocks.map((content, i) => {
        const [start, label] = [text.length, `[${i}] `]
        text += label + content + (i + 1 < blocks.length ? gap : '')
        const end = start + label.length + content.length
        return { text: place, start, end, content: { start: start + label.length, end } }
      })
      text += rest
      const texts = [...before, text, ...after]
      const context = { slots, blocks: [], contents: blocks as unknown as BlockId[], isResult: false }
      const pieces = cutPrompt(texts, [...texts.keys()], [context as unknown as PromptContext])
      const textOf = ({ text: at, start, end }: Piece): string => texts[at]!.slice(start, end)
      const all = [...pieces.front, ...pieces.blocks, ...pieces.rest]
      expect(all.map(textOf).join('')).toBe(texts.join(''))
      expect(pieces.blocks.map(({ text: at, content }) => texts[at]!.slice(content!.start, content!.end))).toEqual(
        blocks,
      )
      if (blocks.length > 0) {
        expect(pieces.front.map(textOf).join('')).toBe(before.join('') + front)
        expect(pieces.rest.map(textOf).join('')).toBe(rest + after.join(''))
      }
    }),
  )
})
