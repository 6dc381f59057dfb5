import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chunkContent } from './chunk-content.ts'
import { toBlockId } from './context-block.ts'
import { deduplicateContext, type FreshBlock, repeatPointers, type SentPointer } from './deduplicate-context.ts'
import { ShownBlocks } from './shown-blocks.ts'

const fresh = (label: string, content: string, isWhole = false): FreshBlock => ({
  id: toBlockId(content),
  content,
  label,
  isWhole,
})
const long = (name: string): string =>
  `${name} is a document that is longer than the words which would point to it.\n`.repeat(3)
const lines = (from: number, to: number, what = 'row'): string =>
  Array.from(
    { length: to - from },
    (_, i) => `${what} ${from + i}: the quick brown fox jumps over the lazy dog\n`,
  ).join('')

/** A block's content with its pointers in place. */
function render({ content }: FreshBlock, pointers: readonly SentPointer[]): string {
  let text = ''
  let at = 0
  for (const { start, end, text: words } of pointers) {
    text += content.slice(at, start) + words
    at = end
  }
  return text + content.slice(at)
}

describe('whole blocks', () => {
  test('a block of an earlier turn is pointed to by the label it stands under there', () => {
    const shown = new ShownBlocks()
    expect(deduplicateContext([fresh('[Doc_1]', long('a')), fresh('[Doc_2]', long('b'))], shown)).toEqual([])
    const pointers = deduplicateContext([fresh('[Doc_5]', long('c')), fresh('[Doc_6]', long('b'))], shown)
    expect(pointers).toMatchObject([
      { place: 1, start: 0, end: long('b').length, text: 'Please refer to [Doc_2] in the previous conversation.' },
    ])
  })

  test('a label that two earlier turns bear is told apart by how the block begins', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a'))], shown)
    deduplicateContext([fresh('[1]', long('b'))], shown)
    const [pointer] = deduplicateContext([fresh('[1]', long('a'))], shown)
    expect(pointer!.text).toBe(
      'Please refer to [1] in the previous conversation. (It begins: "a is a document that is longer than the…")',
    )
  })

  test('the label of the list that points does not count as one of the previous conversation', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a'))], shown)
    expect(deduplicateContext([fresh('[1]', long('a'))], shown)[0]!.text).toBe(
      'Please refer to [1] in the previous conversation.',
    )
  })

  test('a block that is shorter than the words is sent again', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', 'short')], shown)
    expect(deduplicateContext([fresh('[1]', 'short')], shown)).toEqual([])
  })

  test('a block that is only pointed to is never pointed at', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[A]', long('a'))], shown)
    deduplicateContext([fresh('[B]', long('a'))], shown)
    expect(deduplicateContext([fresh('[C]', long('a'))], shown)[0]!.text).toContain('[A]')
  })
})

describe('partial overlaps', () => {
  test('a stretch of whole lines that another block holds is pointed to, and its borders are named', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', lines(0, 40))], shown)
    const edited = fresh('[2]', `new head\n${lines(5, 30)}new tail\n`)
    const pointers = deduplicateContext([edited], shown)
    expect(render(edited, pointers)).toBe(
      'new head\nPlease refer to [1] in the previous conversation. ' +
        '(From "row 5: the quick brown fox jumps over…" to "…quick brown fox jumps over the lazy dog")\nnew tail\n',
    )
  })

  test('rows that differ in anything are not the same', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', lines(1000, 1040, '1001|row'))], shown)
    expect(deduplicateContext([fresh('[2]', lines(1000, 1040, '9001|row'))], shown)).toEqual([])
  })

  test('repetitions inside one block stay', () => {
    expect(deduplicateContext([fresh('[1]', lines(0, 20) + lines(0, 20))], new ShownBlocks())).toEqual([])
  })

  test('a stretch that is not much longer than the words stays', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', `a\n${lines(0, 2)}b\n`)], shown)
    expect(deduplicateContext([fresh('[2]', `c\n${lines(0, 2)}d\n`)], shown)).toEqual([])
  })

  test('what can only be taken as a whole is not cut', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', lines(0, 40))], shown)
    expect(deduplicateContext([fresh('[2]', `{${lines(0, 40)}}`, true)], shown)).toEqual([])
  })
})

describe('repeated turns', () => {
  test('what was decided is repeated while its target stands, else the full block is sent', () => {
    const shown = new ShownBlocks()
    const block = fresh('[1]', long('a'))
    deduplicateContext([block], shown)
    const past = deduplicateContext([block], shown)
    const again = new ShownBlocks()
    repeatPointers([block], [], again)
    expect(repeatPointers([block], past, again)).toEqual(past)
    expect(repeatPointers([block], past, new ShownBlocks())).toEqual([])
  })

  test('a block that came in full comes in full again, whatever stands earlier by now', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a'))], shown)
    expect(repeatPointers([fresh('[1]', long('a'))], [], shown)).toEqual([])
  })
})

const line = fc.oneof(
  fc.constantFrom(
    '',
    '}',
    '  return x',
    '# A heading',
    '| a | b |',
    'the same line again, which is somewhat longer than others',
  ),
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll('\n', ' ')),
)
const content = fc.array(line, { minLength: 1, maxLength: 60 }).map((all) => all.join('\n'))
const stretch = fc.tuple(fc.nat(40), fc.nat(40)).map(([from, length]) => lines(from, from + length))
const document = fc.array(fc.oneof(content, stretch), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('\n'))

test('whatever is pointed to stands in full in a block before, and the prompt gets shorter', () => {
  fc.assert(
    fc.property(fc.array(fc.array(document, { maxLength: 5 }), { maxLength: 5 }), (turns) => {
      const shown = new ShownBlocks()
      const full = new Map<string, string>()
      for (const turn of turns) {
        const blocks = turn.map((text, i) => fresh(`[${i + 1}]`, text))
        const pointers = deduplicateContext(blocks, shown)
        for (const [place, block] of blocks.entries()) {
          const own = pointers.filter((pointer) => pointer.place === place)
          let at = 0
          for (const { start, end, text, target } of own) {
            expect(start).toBeGreaterThanOrEqual(at)
            expect(full.get(target)).toContain(block.content.slice(start, end))
            expect(text.length).toBeLessThan(end - start)
            at = end
          }
          if (own.length === 0) full.set(block.id, block.content)
        }
      }
    }),
  )
})

test('chunks are the whole content in order, and begin and end with lines', () => {
  fc.assert(
    fc.property(document, (text) => {
      const chunks = chunkContent(text)
      expect(chunks.map(({ start, end }) => text.slice(start, end)).join('')).toBe(text)
      for (const { start } of chunks.slice(1)) expect(text[start - 1]).toBe('\n')
    }),
  )
})
