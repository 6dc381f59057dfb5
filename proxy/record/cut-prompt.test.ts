import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PromptContext } from '../prompt/body/prompt-context.ts'
import { type RecordedPrompt, recordPrompt } from './recorded-prompt.ts'

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

const way = { hash: (text: string) => `#${text}`, hasText: true, wording: undefined, isChat: false }

test('every character of a prompt is in one piece, in order, and labels are apart from their blocks', () => {
  fc.assert(
    fc.property(prompts, (given) => {
      const { texts, list } = writePrompt(given)
      const contexts = list.slots.length > 0 ? [{ found: list }] : []
      const { front, blocks, rest, list: placed } = recordPrompt(texts, [...texts.keys()], contexts, way)
      const textOf = (id: string): string => id.slice(1)
      const { labels = [], gaps = [], blocks: pieces = [] } = placed ?? {}
      const inList = pieces.flatMap((own, place) => [
        ...own.map((piece) => piece ?? labels[place]!),
        ...(gaps[place] ?? []),
      ])
      expect([...front, ...inList, ...rest].map(textOf).join('')).toBe(texts.join(''))
      expect(labels.map(textOf)).toEqual(given.labelIn ? given.blocks.map((_, i) => `<${i}>`) : [])
      expect(blocks.map(textOf)).toEqual(
        given.blocks.map(({ content }, i) => (given.labelIn === 'content' ? `${content}<${i}>.` : content)),
      )
      expect(gaps).toHaveLength(Math.max(0, given.blocks.length - 1))
    }),
  )
})

test('blocks of the last list are those that may be moved, and results of tools are not', () => {
  const contextIn = (text: number, isResult = false): { found: PromptContext } => {
    const slots = [{ text, start: 0, end: 1, content: { start: 0, end: 1 } }]
    return { found: { slots, isResult } as unknown as PromptContext }
  }
  const contexts = [contextIn(0), contextIn(1), contextIn(2, true)]
  const record = (...places: number[]): RecordedPrompt => recordPrompt(['a', 'b', 'c'], places, contexts, way)
  expect(record(0, 1, 2)).toMatchObject({ front: ['#a'], blocks: ['#b'], rest: ['#c'] })
  // of another prompt in the same body
  expect(record(0).blocks).toEqual(['#a'])
  expect(record(2).list).toBeUndefined()
})
