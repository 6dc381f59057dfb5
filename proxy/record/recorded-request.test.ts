import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import { cutPrompt, findLastList, type Piece } from './recorded-request.ts'

const word = fc.string({ maxLength: 12 })

/** A list in one text or in a text for each block, between texts of others; a label may be inside its content. */
const prompts = fc.record({
  before: fc.array(word, { maxLength: 2 }),
  front: word,
  blocks: fc.array(fc.record({ head: word, content: fc.string({ minLength: 1, maxLength: 12 }), tail: word }), {
    maxLength: 5,
  }),
  labelIn: fc.constantFrom('head', 'content', undefined),
  isInParts: fc.boolean(),
  gap: fc.constantFrom('', '\n', '\n\n'),
  rest: word,
  after: fc.array(word, { maxLength: 2 }),
})

type Slots = { -readonly [K in keyof PromptContext['slots'][number]]: PromptContext['slots'][number][K] }[]

function writePrompt({
  before,
  front,
  blocks,
  labelIn,
  isInParts,
  gap,
  rest,
  after,
}: typeof prompts extends fc.Arbitrary<infer T> ? T : never): {
  texts: string[]
  list: PromptContext
} {
  const texts = [...before, front]
  const slots: Slots = []
  for (const [i, { head, content, tail }] of blocks.entries()) {
    if (i > 0) {
      texts[texts.length - 1] += gap
      if (isInParts) texts.push('')
    }
    const text = texts.length - 1
    const start = texts[text]!.length
    const label = `<${i}>`
    const own = labelIn === 'head' ? `${head}${label}` : head
    const body = labelIn === 'content' ? `${content}${label}.` : content
    texts[text] += own + body + tail
    const at = start + own.length
    const slot = { text, start, end: texts[text]!.length, content: { start: at, end: at + body.length } }
    const from = labelIn === 'head' ? at - label.length : at + content.length
    slots.push(labelIn ? { ...slot, label: { start: from, end: from + label.length } } : slot)
  }
  texts[texts.length - 1] += rest
  const list = { slots, blocks: [], contents: [], isResult: false, positional: labelIn !== undefined }
  return { texts: [...texts, ...after], list: list as unknown as PromptContext }
}

test('every character of a prompt is in one piece, in order, and labels are apart from their blocks', () => {
  fc.assert(
    fc.property(prompts, (given) => {
      const { texts, list } = writePrompt(given)
      const { front, blocks, rest, list: placed } = cutPrompt(texts, [...texts.keys()], list)
      const textOf = ({ text, start, end }: Piece): string => texts[text]!.slice(start, end)
      const inList = placed.blocks.flatMap((pieces, place) => [
        ...pieces.map((piece) => piece ?? placed.labels[place]!),
        ...(placed.gaps[place] ?? []),
      ])
      expect([...front, ...inList, ...rest].map(textOf).join('')).toBe(texts.join(''))
      expect(placed.labels.map(textOf)).toEqual(given.labelIn ? given.blocks.map((_, i) => `<${i}>`) : [])
      expect(blocks.map(textOf)).toEqual(
        given.blocks.map(({ content }, i) => (given.labelIn === 'content' ? `${content}<${i}>.` : content)),
      )
      expect(placed.gaps).toHaveLength(Math.max(0, given.blocks.length - 1))
    }),
  )
})

test('blocks of the last list are those that may be moved, and results of tools are not', () => {
  const contextIn = (text: number, isResult = false): { found: PromptContext } => {
    return { found: { slots: [{ text, start: 0, end: 1 }], isResult } as unknown as PromptContext }
  }
  const [first, last] = [contextIn(0), contextIn(1)]
  const contexts = [first, last, contextIn(2, true)]
  expect(findLastList([0, 1, 2], contexts)).toBe(last)
  // of another prompt in the same body
  expect(findLastList([0], contexts)).toBe(first)
  expect(findLastList([2], contexts)).toBeUndefined()
})
