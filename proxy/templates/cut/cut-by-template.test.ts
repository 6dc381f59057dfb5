import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutByTemplate, cutOrRefuse } from './cut-by-template.ts'
import { readTemplate, type TemplateText } from './read-template.ts'
import type { Template } from './template.ts'

function toTemplate(text: TemplateText): Template {
  const template = readTemplate(text)
  if (!('head' in template)) throw new Error(template.map(({ key, reason }) => `${key} ${reason}`).join('; '))
  return template
}

const numbered = { block: '[{n}] {block}', join: '\n\n', after: '\n\nQuestion:' }
const sources = { block: '### Source: {any}\n{block}\n\n', before: 'Use these sources:\n', after: 'Question:' }
const tags = { block: '<doc id="{n}">{block}</doc>', join: '\n', before: '<docs>\n', after: '\n</docs>' }
const ruled = { block: '{block}', join: '\n---\n', before: 'Context:\n', after: '\n\nAnswer' }
const closed = { block: '{block}\n-- end --\n', before: 'Read:\n' }
const credited = { block: '{block}\n(From {any})\n\n', before: '{start}', after: '{end}' }

/** Writes a list as an application with this template does. */
function render({ block, join = '', before = '', after = '' }: TemplateText, documents: readonly string[]): string {
  const blocks = documents.map((text, i) =>
    block
      .replace('{n}', () => String(i + 1))
      .replace('{any}', () => `name ${i}`)
      .replace('{block}', () => text),
  )
  return before.replace('{start}', '') + blocks.join(join) + after.replace('{end}', '')
}

function contentsOf(text: string, template: TemplateText): string[] | undefined {
  const list = cutByTemplate(text, toTemplate(template))
  return list?.blocks.map(({ contentStart, contentEnd }) => text.slice(contentStart, contentEnd))
}

const wholes = (text: string, template: TemplateText): string[] | undefined =>
  cutByTemplate(text, toTemplate(template))?.blocks.map(({ start, end }) => text.slice(start, end))

describe('a template finds what it has written', () => {
  const documents = ['Paris is big.\n\nAnd old.', 'The Seine [7] flows.', 'Rome: - a city\n- of hills']
  test.each(Object.entries({ numbered, sources, tags, ruled, closed, credited }))('%s', (_, template) => {
    expect(contentsOf(render(template, documents), template)).toEqual(documents)
    const isWhole = template === credited
    const text = isWhole ? render(template, documents) : `Be brief.\n\n${render(template, documents)} why? [2]\n\nSo.`
    expect(contentsOf(text, template)).toEqual(documents)
  })

  test('from the beginning of its opening to the end of its closing; white space between blocks stays', () => {
    expect(wholes(render(sources, ['a', 'b']), sources)).toEqual(['### Source: name 0\na', '### Source: name 1\nb'])
    expect(wholes(render(tags, ['a', 'b']), tags)).toEqual(['<doc id="1">a</doc>', '<doc id="2">b</doc>'])
    expect(wholes(render(credited, ['a', 'b']), credited)).toEqual(['a\n(From name 0)', 'b\n(From name 1)'])
    expect(wholes(render(ruled, ['a ', '\nb']), ruled)).toEqual(['a', 'b'])
  })

  test('with numbers that stay in their places, and what precedes them when a block is mentioned', () => {
    const template = { block: 'Document {n}: {block}\n', after: '\nQuestion' }
    const text = 'Document 1: a\nDocument 2: b\n\nQuestion'
    const list = cutByTemplate(text, toTemplate(template))!
    expect(list).toMatchObject({ positional: true, labelPrefix: 'Document ' })
    expect(list.blocks.map(({ label }) => text.slice(label!.start, label!.end))).toEqual(['1', '2'])
    expect(cutByTemplate(render(tags, ['a', 'b']), toTemplate(tags))).toMatchObject({ labelPrefix: '' })
    expect(cutByTemplate(render(ruled, ['a', 'b']), toTemplate(ruled))).toMatchObject({ positional: false })
  })

  test('and the closing tag of what contains the list', () => {
    const text = `${render(tags, ['a', 'b'])}\n\nWhy?`
    expect(cutByTemplate(text, toTemplate(tags))!.end).toBe(text.indexOf('\n\nWhy?'))
    const numbers = render(numbered, ['a', 'b'])
    expect(cutByTemplate(numbers, toTemplate(numbered))!.end).toBe(numbers.indexOf('\n\nQuestion'))
  })
})

test.each<[string, TemplateText, string, string | undefined]>([
  ['another prompt', sources, 'What is 2 + 2?', undefined],
  ['one block', numbered, render(numbered, ['a']), undefined],
  ['no text behind the list', numbered, '[1] a\n\n[2] b\n\nAsk:', 'no_end'],
  ['numbers with a gap', numbered, '[1] a\n\n[3] b\n\nQuestion:', 'numbers'],
  ['numbers that begin elsewhere', numbered, '[4] a\n\n[5] b\n\nQuestion:', undefined],
  [
    'numbers that begin elsewhere in a text',
    { ...numbered, before: '{start}' },
    '[4] a\n\n[5] b\n\nQuestion:',
    undefined,
  ],
  ['a number that a document holds, too', numbered, render(numbered, ['a\n\n[2] of it', 'b']), 'numbers'],
  ['two places where a list may begin', numbered, `[1] is how you cite.\n${render(numbered, ['a', 'b'])}`, 'borders'],
  ['two places where it may end', numbered, `${render(numbered, ['a', 'b'])} x\n\nQuestion:`, 'borders'],
  ['its end within a document', ruled, render(ruled, ['a\n\nAnswer me', 'b']), 'borders'],
  ['its beginning in two places', sources, `${render(sources, ['a', 'b'])}\n${render(sources, ['c'])}`, 'borders'],
  ['an opening where none ends', sources, render(sources, ['a\n### Source: b', 'c']), 'borders'],
  ['an empty document', ruled, render(ruled, ['a', '', 'b']), 'borders'],
  ['rules that overlap', ruled, render(ruled, ['a\n---', '---\nb']), 'borders'],
  [
    'more blocks than any prompt has',
    numbered,
    render(
      numbered,
      Array.from({ length: 3_000 }, () => 'a'),
    ),
    'too_many',
  ],
])('it finds nothing where its borders are not beyond doubt: %s', (_, template, text, refusal) => {
  expect(cutOrRefuse(text, toTemplate(template))).toBe(refusal)
})

test('a closing that no other text has is end enough', () => {
  const template = { block: '<doc>{block}</doc>', join: '\n' }
  const text = `${render(template, ['a', 'b', 'c'])}\n\nWhich <doc> is it?`
  expect(contentsOf(text, template)).toEqual(['a', 'b', 'c'])
  expect(cutOrRefuse(`${text}</doc>`, toTemplate(template))).toBe('borders')
  expect(cutOrRefuse('<doc>a</doc>\n<doc>b', toTemplate(template))).toBe('no_end')
  expect(cutOrRefuse('<doc>a</doc>\n<doc>b</doc>\n\n<doc>c</doc>', toTemplate(template))).toBe('borders')
})

test.each([
  [{ block: '<doc>{block}</doc>', join: '\n', after: '\nFor {any}' }, '<doc>a</doc>\n<doc>b</doc>\nFor Ann'],
  [{ block: '<doc>{block}</doc> by {any}', join: '\n', after: '{end}' }, '<doc>a</doc> by x\n<doc>b</doc> by y'],
])('what a template ends with may be anything up to the end of the line: %o', (template, text) => {
  expect(contentsOf(text, template)).toEqual(['a', 'b'])
})

const templates = [numbered, sources, tags, ruled, closed, credited]
const clean = fc
  .array(fc.constantFrom('Paris', 'is [7]', 'a - b', '\n', '\n\n', '1. ', '- ', '--', ': ', 'über', '😀', '{n}', '$&'))
  .map((words) => words.join(' ').trim())
  .filter((text) => text !== '')

test('property: documents without a literal of the template are found exactly, whatever is around the list', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...templates),
      fc.array(clean, { minLength: 2, maxLength: 6 }),
      clean,
      (template, documents, words) => {
        const isWhole = template === credited
        const text = isWhole ? render(template, documents) : `${words}\n${render(template, documents)} ${words}`
        expect(contentsOf(text, template)).toEqual(documents)
      },
    ),
  )
})

/** Pieces of templates, so that documents hold literals of theirs, whole and in part. */
const pieces = templates.flatMap(({ block, join = '', before = '', after = '' }: TemplateText) =>
  [...block.split(/\{\w+\}/), join, before, after, block.replace('{block}', 'x')].filter((piece) => piece !== ''),
)
const dirty = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.constantFrom('a', ' b ', '2', '\n')), { minLength: 1, maxLength: 6 })
  .map((words) => words.join('').trim())
  .filter((text) => text !== '')

test('property: documents that hold literals of the template are found exactly or not at all', () => {
  let found = 0
  let refused = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...templates),
      fc.array(dirty, { minLength: 2, maxLength: 5 }),
      (template, documents) => {
        const text = render(template, documents)
        const contents = contentsOf(text, template)
        if (contents === undefined) {
          refused++
          return
        }
        found++
        // a document that holds a whole border reads like two, and nothing can tell
        const { gap } = toTemplate(template)
        const border = gap.parts.filter((part) => typeof part === 'string')
        const holdsBorder = documents.some((one) => border.every((literal) => one.includes(literal)))
        if (!holdsBorder) expect(contents).toEqual(documents)
      },
    ),
    { numRuns: 2_000 },
  )
  expect(found).toBeGreaterThan(50)
  expect(refused).toBeGreaterThan(50)
})

test('property: whatever the text, blocks are in order, apart, and the text around them is what the template says', () => {
  fc.assert(
    fc.property(fc.constantFrom(...templates), fc.array(dirty, { maxLength: 12 }), (template, words) => {
      const text = words.join('')
      const list = cutByTemplate(text, toTemplate(template))
      let end = 0
      for (const block of list?.blocks ?? []) {
        expect(block.start).toBeGreaterThanOrEqual(end)
        expect(block.contentStart).toBeGreaterThanOrEqual(block.start)
        expect(block.contentEnd).toBeGreaterThan(block.contentStart)
        expect(block.end).toBeGreaterThanOrEqual(block.contentEnd)
        end = block.end
      }
      if (list) expect(list.end).toBeGreaterThanOrEqual(end)
      if (list) expect(list.end).toBeLessThanOrEqual(text.length)
    }),
  )
})

test.each<[string, TemplateText, string]>([
  ['literals that are not in their line', { block: 'Source {any}; {block}\n\n', after: '{end}' }, '\n\nSource '],
  ['many beginnings', { ...numbered, before: 'Use: ' }, 'Use: [1] '],
  ['many numbers', numbered, '\n\n[1]'],
  ['many openings in one line', { block: '<doc {any}>{block}</doc>' }, '<doc '],
])('it takes linear time: %s', (_, template, piece) => {
  const read = toTemplate(template)
  const time = (length: number): number => {
    const text = piece.repeat(length / piece.length)
    const begun = performance.now()
    cutByTemplate(text, read)
    return performance.now() - begun
  }
  time(100_000)
  expect(time(1_000_000)).toBeLessThan(3_000)
})
