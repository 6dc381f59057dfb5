import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BlockSpan, ContextList } from '../context-list.ts'
import { findContextLists } from './found-lists.fixture.ts'

function contentsOf(text: string): string[][] {
  return findContextLists(text).map(({ blocks }) =>
    blocks.map((block) => text.slice(block.contentStart, block.contentEnd)),
  )
}

const fragment = fc.constantFrom(
  ...[
    '<document>',
    '</document>',
    '<doc id="1">',
    '<doc index="2">',
    '</doc>',
    '<documents>',
    '</documents>',
    '<context>',
  ],
  ...[
    '</context>',
    '<rag>',
    '</rag>',
    '<a b="',
    '"',
    "'",
    '<',
    '>',
    '/>',
    '[1] ',
    '[2] ',
    '[3]',
    '[Doc_1] ',
    '[Doc_2] ',
  ],
  ...['[Doc_ab] ', 'Document 1: ', 'Document 2: ', 'Document [1](Title: x) ', '### Source 1\n', '**', '[1]: http://x'],
  ...[
    '```',
    '~~~',
    '`',
    '---',
    '\n---\n',
    '# ',
    '|',
    'Question: ',
    '\nAnswer:',
    'References',
    'For example:',
    '<|user|>',
  ],
  ...[
    '[{"content":"a text of some words","id":1},',
    '{"content":"another text of words","id":2}]',
    '{"results":',
    '}',
    '["',
    'User Memories:\n',
    '- ',
    '\n- ',
    '1. ',
    '\n\n---\n\n',
    'Context:\n',
    '\n\nfile_path: a.md\n\n',
    '\nSource: x\nContent: ',
    '### Document\n',
    '-----\n',
    '- Relevant Memories/Facts: ',
    '\n\n- Entities: ',
  ],
  ...['\n', '\n', '\n', '\n\n', '\r\n', ' ', '\t', 'x', 'words of text', 'é', '\u00a0', '\u2028', '😀', '\ud800'],
)
const anyText = fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(''))

const word = fc.constantFrom(
  'rain',
  'sun',
  'wind',
  'in [3]',
  'x[1]',
  '<b>',
  '</b>',
  '|',
  '`',
  '"',
  'ÄÖ',
  '雨',
  '😀',
  'a < b',
)
const line = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => `So ${words.join(' ')}.`)
const paragraph = fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n'))
const paragraphs = fc.array(paragraph, { minLength: 2, maxLength: 3 }).map((parts) => parts.join('\n\n'))
const prose = fc.array(line, { maxLength: 3 }).map((lines) => lines.join('\n\n'))

/** How a list is written: each block, and what is between and around the blocks. */
interface Form {
  readonly name: string
  readonly block: (content: string, number: number) => string
  readonly around?: readonly [string, string]
}

const labelled: Form[] = [
  { name: '[n]', block: (content, n) => `[${n}] ${content}` },
  { name: '[Doc_n]', block: (content, n) => `[Doc_${n}] ${content}` },
  { name: 'Document n:', block: (content, n) => `Document ${n}: ${content}` },
  { name: 'Document [n]:', block: (content, n) => `Document [${n}]: ${content}` },
  { name: '### Source n', block: (content, n) => `### Source ${n}\n${content}` },
  { name: '**[n]**', block: (content, n) => `**[${n}]**\n${content}` },
]
const tagged: Form[] = [
  { name: '<doc>', block: (content, n) => `<doc index="${n}">${content}</doc>` },
  {
    name: '<documents>',
    block: (content, n) => `<document id="${n}">\n${content}\n</document>`,
    around: ['<documents>\n', '\n</documents>'],
  },
]
const contents = fc.array(paragraph, { minLength: 2, maxLength: 6 })
const longContents = fc.array(paragraphs, { minLength: 2, maxLength: 6 })
const gap = fc.constantFrom('\n', '\n\n', '\n\n\n', '\r\n', '\r\n \r\n')

function write({ block, around: [before, behind] = ['', ''] }: Form, list: readonly string[], between: string): string {
  return `${before}${list.map((content, i) => block(content, i + 1)).join(between)}${behind}`
}

function blocksOf(lists: readonly ContextList[]): ContextList['blocks'] {
  return lists.flatMap((list) => list.blocks)
}

/** Labels come before the content, except in JSON, where they are part of it. */
function labelLimit(text: string, { start, end, contentStart }: BlockSpan): number {
  return text[start] === '{' ? end : contentStart
}

describe('in any text', () => {
  it('blocks are ordered, do not overlap and hold their content and label', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let at = 0
        for (const { blocks, end } of findContextLists(text)) {
          expect(blocks.length).toBeGreaterThan(0)
          for (const block of blocks) {
            expect(block.start).toBeGreaterThanOrEqual(at)
            expect(block.contentStart).toBeGreaterThanOrEqual(block.start)
            expect(block.contentEnd).toBeGreaterThanOrEqual(block.contentStart)
            expect(block.end).toBeGreaterThanOrEqual(block.contentEnd)
            if (block.label) {
              expect(block.label.start).toBeGreaterThan(block.start)
              expect(block.label.end).toBeGreaterThan(block.label.start)
              expect(block.label.end).toBeLessThanOrEqual(labelLimit(text, block))
            }
            at = block.end
          }
          expect(end).toBeGreaterThanOrEqual(at)
          at = end
        }
        expect(at).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 2_000 },
    )
  })

  it('positional labels count up from 0 or 1', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { blocks, positional } of findContextLists(text)) {
          if (!positional) continue
          const ids = blocks.map(({ label }) => Number(text.slice(label!.start, label!.end)))
          expect(ids).toEqual(ids.map((_, i) => ids[0]! + i))
          expect([0, 1]).toContain(ids[0])
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('nothing but blocks changes when blocks change places', () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, whole) => {
        const lists = findContextLists(text, { whole })
        const blocks = blocksOf(lists)
        const reversed = lists.flatMap((list) => list.blocks.toReversed())
        let at = 0
        let moved = ''
        for (const [i, { start, end }] of blocks.entries()) {
          moved += text.slice(at, start) + text.slice(reversed[i]!.start, reversed[i]!.end)
          at = end
        }
        moved += text.slice(at)
        expect([...moved].toSorted()).toEqual([...text].toSorted())
        for (const { start, end } of blocks) expect(moved).toContain(text.slice(start, end))
      }),
      { numRuns: 500 },
    )
  })

  it('JSON stays JSON of the same elements when its blocks change places', () => {
    const element = fc.record({
      title: fc.string(),
      similarity: fc.double({ noNaN: true, noDefaultInfinity: true }),
      content: fc.string({ minLength: 16 }),
      nested: fc.jsonValue({ maxDepth: 2 }),
    })
    fc.assert(
      fc.property(fc.array(element, { minLength: 2, maxLength: 6 }), fc.constantFrom(0, 2), (elements, indent) => {
        const text = JSON.stringify(elements, null, indent)
        const lists = findContextLists(text)
        // if a string looks like a chat template's mark, nothing is found
        fc.pre(lists.length === 1)
        const [first, last] = [lists[0]!.blocks[0]!, lists[0]!.blocks.at(-1)!]
        // the largest array counts, which may be a nested one
        fc.pre(first.start < 5 && last.end > text.length - 3)
        const [head, middle, tail] = [
          text.slice(0, first.start),
          text.slice(first.end, last.start),
          text.slice(last.end),
        ]
        const moved = head + text.slice(last.start, last.end) + middle + text.slice(first.start, first.end) + tail
        const swapped = [elements.at(-1), ...elements.slice(1, -1), elements[0]]
        expect(JSON.parse(moved)).toEqual(JSON.parse(JSON.stringify(swapped)))
      }),
    )
  })

  it('the spans and the text between them give the text back', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parts: string[] = []
        let at = 0
        for (const { start, end } of blocksOf(findContextLists(text))) {
          parts.push(text.slice(at, start), text.slice(start, end))
          at = end
        }
        expect([...parts, text.slice(at)].join('')).toBe(text)
      }),
    )
  })
})

describe.each([...labelled, ...tagged])('a list written as $name', (form) => {
  it('is found with exactly its contents, whatever prose is in front and whatever line behind', () => {
    fc.assert(
      fc.property(contents, gap, prose, fc.oneof(line, fc.constant('')), (list, between, before, behind) => {
        // marks alone are not enough
        const text = `${before}\n\nSources:\n${write(form, list, between)}\n\n${behind}`
        expect(contentsOf(text)).toEqual([list])
        expect(findContextLists(text)).toMatchObject([{ positional: true }])
      }),
    )
  })

  it('is never torn when its last block alone has several paragraphs', () => {
    fc.assert(
      fc.property(contents, gap, prose, paragraphs, (list, between, before, last) => {
        const documents = [...list, last]
        const text = `${before}\n\n${write(form, documents, between)}\n\nQuestion: why?\nAnswer:`
        for (const found of contentsOf(text)) expect(found).toEqual(documents)
      }),
    )
  })

  it('never takes along what follows in the next line', () => {
    fc.assert(
      fc.property(contents, gap, prose, line, (list, between, before, behind) => {
        const text = `${before}\n\n${write(form, list, between)}\n${behind}`
        for (const { blocks } of findContextLists(text)) {
          expect(blocks.at(-1)!.end).toBeLessThanOrEqual(text.length - behind.length)
        }
      }),
    )
  })

  it('is found with blank lines in its blocks when a cue follows', () => {
    fc.assert(
      fc.property(longContents, gap, prose, (list, between, before) => {
        expect(contentsOf(`${before}\n\nSources:\n\n${write(form, list, between)}\n\nQuestion: why?\nAnswer:`)).toEqual(
          [list],
        )
        expect(contentsOf(`${before}\n\n<context>\n${write(form, list, between)}\n</context>\n\nWhy?`)).toEqual([list])
      }),
    )
  })

  it('gives its permuted contents when its blocks are permuted and counted up again', () => {
    const shuffled = longContents.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(Object.keys(list).map(Number), { minLength: list.length })),
    )
    fc.assert(
      fc.property(shuffled, gap, ([list, order], between) => {
        const text = `Use these sources:\n\n${write(form, list, between)}\n\nQuestion: why?`
        expect(contentsOf(permute(text, order))).toEqual([order.map((i) => list[i]!)])
      }),
    )
  })
})

/** Moves the blocks to their new positions and gives each the label of its position. */
function permute(text: string, order: readonly number[]): string {
  const blocks = blocksOf(findContextLists(text))
  let at = 0
  const parts = blocks.map(({ start, end, label: slot }, i) => {
    const { label, ...block } = blocks[order[i]!]!
    const front = text.slice(at, start)
    at = end
    const id = text.slice(slot!.start, slot!.end)
    return front + text.slice(block.start, label!.start) + id + text.slice(label!.end, block.end)
  })
  return parts.join('') + text.slice(at)
}
