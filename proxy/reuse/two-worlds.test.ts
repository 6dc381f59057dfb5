import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toBlockId } from '#index/context-block.ts'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import { spliceText, type TextSplice } from '../prompt/body/text-splice.ts'
import { PromptParts } from './two-worlds.ts'

const words = fc.stringMatching(/^[a-z ]{0,12}$/)
const blocks = fc.array(fc.record({ between: words, content: fc.stringMatching(/^[a-z]{1,12}$/) }), { maxLength: 6 })

function contextOf(listed: readonly { between: string; content: string }[]): { text: string; context: PromptContext } {
  let text = ''
  const slots = listed.map(({ between, content }) => {
    const start = text.length + between.length
    text += between + content
    return { text: 0, start, end: text.length, content: { start, end: text.length } }
  })
  const contents = listed.map(({ content }) => toBlockId(content))
  const context = { slots, contents, blocks: contents, positional: false, labelPrefix: '', isResult: false }
  return { text: `${text}.`, context: { ...context, annotateAt: undefined } }
}

test('parts are the text as received, with every block as one of them', () => {
  fc.assert(
    fc.property(blocks, (listed) => {
      const { text, context } = contextOf(listed)
      const parts = new PromptParts([text], [context]).received(0)
      expect(parts.map((part) => part.text).join('')).toBe(text)
      expect(parts.flatMap(({ block }) => block ?? [])).toEqual(context.contents)
    }),
  )
})

test('parts of a text with its blocks in reverse order are that text, with the blocks in that order', () => {
  fc.assert(
    fc.property(blocks, (listed) => {
      const { text, context } = contextOf(listed)
      const splices = context.slots.map(({ start, end }, i): TextSplice => {
        const from = context.slots.at(-1 - i)!
        return { start, end, pieces: ['!', { text: 0, start: from.start, end: from.end }] }
      })
      const parts = new PromptParts([text], [context]).rewritten(0, splices)
      expect(parts.map((part) => part.text).join('')).toBe(spliceText([text], 0, splices))
      expect(parts.flatMap(({ block }) => block ?? [])).toEqual(context.contents.toReversed())
    }),
  )
})

test('a stretch that cuts through a block, and a block that holds its label, are text', () => {
  const { text, context } = contextOf([{ between: 'a', content: 'bcd' }])
  const half: TextSplice = { start: 0, end: text.length, pieces: [{ text: 0, start: 0, end: 3 }] }
  expect(new PromptParts([text], [context]).rewritten(0, [half])).toEqual([{ text: 'abc', block: undefined }])
  const slot = { ...context.slots[0]!, label: { start: 2, end: 3 } }
  const labelled = new PromptParts([text], [{ ...context, slots: [slot] }])
  expect(labelled.received(0)).toEqual([{ text, block: undefined }])
})
