import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBlockId } from '../context-block.ts'
import { chunkContent } from './chunk-content.ts'
import { deduplicateContext, type FreshBlock, repeatPointers, type SentPointer } from './deduplicate-context.ts'
import { ShownBlocks } from './shown-blocks.ts'

const fresh = (label: string, content: string, isWhole = false): FreshBlock => ({
  id: toBlockId(content),
  content,
  label,
  isLabelled: true,
  isWhole: () => isWhole,
})
const unlabelled = (place: number, content: string): FreshBlock => ({
  ...fresh(`[Doc_${place}]`, content),
  isLabelled: false,
})
const long = (name: string): string =>
  `${name} is a document that is longer than the words which would point to it.\n`.repeat(3)
const lines = (from: number, to: number, what = 'row'): string =>
  Array.from(
    { length: to - from },
    (_, i) => `${what} ${from + i}: the quick brown fox jumps over the lazy dog\n`,
  ).join('')

/** Returns a block's content with its pointers inserted. */
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

  test('the label of the block that points cannot be meant, that of another in its list can', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a')), fresh('[2]', long('b'))], shown)
    const list = [fresh('[1]', long('a')), fresh('[3]', long('b'))]
    expect(deduplicateContext(list, shown).map(({ text }) => text)).toEqual([
      'Please refer to [1] in the previous conversation.',
      'Please refer to [2] in the previous conversation.',
    ])
    const other = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a')), fresh('[2]', long('b'))], other)
    expect(deduplicateContext([fresh('[1]', long('b')), fresh('[2]', long('c'))], other)[0]!.text).toBe(
      'Please refer to [2] in the previous conversation. (It begins: "b is a document that is longer than the…")',
    )
  })

  test('what only is spoken of by a label is told by how it begins, longer where others begin alike', () => {
    const shown = new ShownBlocks()
    const report = (n: number): string =>
      `Title: Annual report 2023 of ACME Corporation, part\nSection ${n}: ${'revenue rose. '.repeat(12)}`
    deduplicateContext([unlabelled(1, report(1))], shown)
    deduplicateContext([unlabelled(1, report(2))], shown)
    expect(deduplicateContext([unlabelled(1, report(2))], shown)[0]!.text).toBe(
      'Please refer to [Doc_1] in the previous conversation. ' +
        '(It begins: "Title: Annual report 2023 of ACME Corporation, part Section 2: revenue rose.…")',
    )
  })

  test('what no short words tell from others is sent in full', () => {
    const shown = new ShownBlocks()
    const alike = (n: number): string => `${'The same words, again and again. '.repeat(20)}${n}`
    deduplicateContext([unlabelled(1, alike(1)), unlabelled(2, alike(2))], shown)
    expect(deduplicateContext([unlabelled(1, alike(2))], shown)).toEqual([])
  })

  test('what stands under no label is not called by one that another block bears', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[Doc_1]', long('a'))], shown)
    deduplicateContext([unlabelled(1, long('b'))], shown)
    expect(deduplicateContext([unlabelled(1, long('b'))], shown)).toEqual([])
  })

  test('a label at the beginning of a line of other text may be meant too', () => {
    for (const said of ['I found:\n[1] something', '**[1]** something', 'So:\n\n- [1] something']) {
      const shown = new ShownBlocks()
      deduplicateContext([fresh('[1]', long('a'))], shown)
      shown.addText(said)
      expect(deduplicateContext([fresh('[7]', long('a'))], shown)[0]!.text).toContain('(It begins: "a is')
    }
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a'))], shown)
    shown.addText('As it says in [1], a[0] = b[1].')
    expect(deduplicateContext([fresh('[7]', long('a'))], shown)[0]!.text).not.toContain('begins')
  })

  test('a label at the beginning of a line inside of a block may be meant too', () => {
    for (const note of ['[1] Smith, 2019', '> [1] Smith', 'Intro\n[1] Smith']) {
      const shown = new ShownBlocks()
      deduplicateContext([fresh('[1]', long('a')), fresh('[2]', `${long('b')}${note}`)], shown)
      expect(deduplicateContext([fresh('[5]', long('a'))], shown)[0]!.text).toContain('(It begins: "a is')
    }
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a')), fresh('[2]', `${long('b')}As said in [1], or in [12]`)], shown)
    expect(deduplicateContext([fresh('[5]', long('a'))], shown)[0]!.text).not.toContain('It begins')
  })

  test('no character is cut in half', () => {
    const shown = new ShownBlocks()
    for (const head of ['x', 'xx']) {
      const content = `${head}${'😀'.repeat(200)}`
      deduplicateContext([unlabelled(1, content)], shown)
      expect(deduplicateContext([unlabelled(1, content)], shown)[0]!.text.isWellFormed()).toBe(true)
    }
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
        '(From "row 5: the quick brown fox jumps over…" to "…fox jumps over the lazy dog row 29: the quick brown fox jumps over the lazy dog")\nnew tail\n',
    )
  })

  test('a stretch that the other block holds twice stays, for nothing short says which of them is meant', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', `Monday\n${lines(0, 8)}special: 17 bikes\n${lines(0, 8)}end\n`)], shown)
    expect(deduplicateContext([fresh('[2]', `Tuesday\n${lines(0, 8)}end of Tuesday\n`)], shown)).toEqual([])
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

  test('words that could be taken for something else by now are not repeated', () => {
    const shown = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a'))], shown)
    const past = deduplicateContext([fresh('[5]', long('a'))], shown)
    expect(past).toHaveLength(1)
    const other = new ShownBlocks()
    deduplicateContext([fresh('[1]', long('a'))], other)
    deduplicateContext([fresh('[1]', long('b'))], other)
    expect(repeatPointers([fresh('[5]', long('a'))], past, other)).toEqual([])
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

/** Returns the stretches that words may mean: in texts with the label, or with none, other than the pointer itself. */
function resolve(words: string, standing: readonly Standing[], self: Standing): string[] {
  const [, label, begins, from, to] =
    /^Please refer to (\[.*?\]) in the previous conversation\.(?: \(It begins: "(.*)"\)| \(From "(.*)" to "(.*)"\))?\n?$/s.exec(
      words,
    )!
  const others = standing.filter((one) => one !== self)
  const labelled = others.filter((one) => one.isLabelled && one.label === label)
  const named = labelled.length > 0 ? labelled : others.filter((one) => !one.isLabelled)
  const texts = named.map(({ text }) => text.trim().replaceAll(/\s+/g, ' '))
  if (begins !== undefined) return texts.filter((text) => text.startsWith(begins.replace(/…$/, '')))
  if (from === undefined || to === undefined) return texts
  return texts.flatMap((text) => stretchesOf(text, from.replace(/…$/, ''), to.replace(/^…/, '')))
}

function stretchesOf(text: string, from: string, to: string): string[] {
  const found: string[] = []
  for (let start = text.indexOf(from); start >= 0; start = text.indexOf(from, start + 1)) {
    for (let end = text.indexOf(to, start); end >= 0; end = text.indexOf(to, end + 1)) {
      found.push(text.slice(start, end + to.length))
    }
  }
  return found
}

interface Standing {
  label: string
  isLabelled: boolean
  text: string
}

const alike = fc.constantFrom(
  ...[1, 2, 3].flatMap((n) => [
    `Title: Annual report of ACME Corporation, all of its parts\nSection ${n}: ${'and so on. '.repeat(10)}`,
    Array.from({ length: 12 }, (_, i) => `${n % 2}00${i}|customer|Berlin|open|some text here that ends alike`).join(
      '\n',
    ),
    `${n}\n${lines(0, 6)}${lines(n, 6)}${lines(0, 6)}`,
    long(`${n}`),
  ]),
)
const labels = fc.constantFrom(
  (i: number) => `[${i + 1}]`,
  (i: number) => `[Doc_${i + 1}]`,
  (i: number) => `[Doc_${2 * (i % 2) + 1}]`,
)
const list = fc.record({ contents: fc.array(fc.oneof(alike, document), { maxLength: 4 }), labels, bears: fc.boolean() })

test('the words of every pointer can be taken for one stretch of the prompt only, and for the right one', () => {
  let pointed = 0
  fc.assert(
    fc.property(fc.array(list, { maxLength: 6 }), (lists) => {
      const shown = new ShownBlocks()
      const standing: Standing[] = []
      for (const { contents, labels: labelOf, bears } of lists) {
        const blocks = contents.map((text, i) => ({ ...fresh(labelOf(i), text), isLabelled: bears }))
        const pointers = deduplicateContext(blocks, shown)
        const own = blocks.map((block, place) => {
          const stretches = pointers.filter((pointer) => pointer.place === place)
          const text = render(
            block,
            stretches.map((pointer) => ({ ...pointer, text: '\0' })),
          )
          return { label: block.label, isLabelled: bears, text }
        })
        standing.push(...own)
        for (const { place, start, end, text } of pointers) {
          const meant = blocks[place]!.content.slice(start, end).trim().replaceAll(/\s+/g, ' ')
          expect([...new Set(resolve(text, standing, own[place]!))]).toEqual([meant])
          pointed += 1
        }
      }
    }),
    { numRuns: 300 },
  )
  expect(pointed).toBeGreaterThan(100)
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
