import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PromptMessage } from '../prompt/body/prompt.ts'
import { type KnownTemplates, searchInSteps } from '../prompt/find-contexts.ts'
import { finish } from '../prompt/finish.ts'
import { findContextLists } from '../prompt/forms/found-lists.fixture.ts'
import { BLANK_LINE } from '../prompt/scan/find-edges.ts'
import { KnownCuts } from './known-cuts.ts'

const message: PromptMessage = { role: 'user', texts: [0], rest: '', isTextOnly: true }
const text = fc
  .array(fc.constantFrom('salt', 'ferry', 'mill', 'bell', 'slate', 'of 1702', '\n', '\n\n', '- grey', '[x]'), {
    minLength: 8,
    maxLength: 30,
  })
  .map((words) => `It is ${words.join(' ').trim()}.`)
const documents = fc.array(text, { minLength: 2, maxLength: 8 })

const templates = {
  tags: (own: readonly string[]) =>
    `<documents>\n${own.map((one, i) => `<document index="${i + 1}">\n${one}\n</document>`).join('\n')}\n</documents>\n\nQuestion: why?`,
  labels: (own: readonly string[]) =>
    `Answer from the documents.\n\n${own.map((one, i) => `Document ${i + 1}: ${one}`).join('\n\n')}\n\nQuestion: why?`,
  named: (own: readonly string[]) =>
    `<documents>\n${own.map((one, i) => `<document source="notes/${i * 7}.md">\n${one}\n</document>`).join('\n')}\n</documents>\n\nQuestion: why?`,
}

describe.each(Object.entries(templates))('the cuts of a template: %s', (_, write) => {
  const learn = (cuts: KnownCuts, own: readonly string[]): void => {
    cuts.learn('a', message, write(own), findContextLists(write(own)))
  }

  test('are none before they have agreed with the rules, and never differ from them afterwards', () => {
    const used = { cut: 0, all: 0 }
    fc.assert(
      fc.property(fc.array(documents, { minLength: 5, maxLength: 5 }), documents, (earlier, own) => {
        const cuts = new KnownCuts()
        learn(cuts, earlier[0]!)
        expect(cuts.cut('a', message, write(own))).toBeUndefined()
        for (const one of earlier) learn(cuts, one)
        const cut = cuts.cut('a', message, write(own))
        // one with paragraphs may be left to the rules
        if (!BLANK_LINE.test(own.at(-1)!)) used.all += 1
        if (cut === undefined) return
        used.cut += 1
        const [found, ...others] = findContextLists(write(own))
        // a sample in which the rules refuse what they found in others: words of its documents
        if (found === undefined) return
        expect(others).toEqual([])
        const spans = ({ blocks }: NonNullable<typeof found>) =>
          blocks.map(({ start, end, contentStart, contentEnd, label }) => ({
            start,
            end,
            contentStart,
            contentEnd,
            label,
          }))
        expect(spans(cut)).toEqual(spans(found!))
        expect(cut.end).toBe(found!.end)
      }),
      { numRuns: 60 },
    )
    expect(used.cut).toBeGreaterThan(used.all / 2)
  })
})

test('another scope, another role and another beginning have cuts of their own', () => {
  const cuts = new KnownCuts()
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old', 'bees paint their hives'].map(
    (words) => `The ${words}, and nobody knows why it is so.`,
  )
  const whole = templates.tags(own)
  for (let i = 0; i < 5; i++) cuts.learn('a', message, whole, findContextLists(whole))
  expect(cuts.cut('a', message, whole)?.blocks).toHaveLength(4)
  expect(cuts.cut('b', message, whole)).toBeUndefined()
  expect(cuts.cut('a', { ...message, role: 'tool' }, whole)).toBeUndefined()
  expect(cuts.cut('a', message, `Use these. ${whole}`)).toBeUndefined()
})

test('a list that nothing closes has none where it ended with the text: in another text a question may follow', () => {
  const cuts = new KnownCuts()
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old', 'bees paint their hives'].map(
    (words) => `The ${words}, and nobody knows why it is so.`,
  )
  const whole = `Use these.\n\nDocuments:\n${own.map((one, i) => `[${i + 1}] ${one}`).join('\n\n')}`
  expect(findContextLists(whole)).toHaveLength(1)
  for (let i = 0; i < 5; i++) cuts.learn('a', message, whole, findContextLists(whole))
  expect(cuts.cut('a', message, `${whole}\n\nQuestion: why?`)).toBeUndefined()
})

test.each(['Answer in German.', '## Task\nRank them.', 'History:\nUser: hi', 'And so it is.'])(
  'where nothing closes the last block, the rules say whose the paragraph behind it is: %j',
  (words) => {
    const cuts = new KnownCuts()
    const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old', 'bees paint their hives'].map(
      (words) => `The ${words}, and nobody knows why it is so.`,
    )
    const whole = templates.labels(own)
    for (let i = 0; i < 5; i++) cuts.learn('a', message, whole, findContextLists(whole))
    expect(cuts.cut('a', message, whole)?.blocks).toHaveLength(4)
    expect(cuts.cut('a', message, templates.labels([...own.slice(1), `${own[0]}\n\n${words}`]))).toBeUndefined()
    expect(cuts.cut('a', message, templates.labels([`${own[0]}\n\n${words}`, ...own]))?.blocks).toHaveLength(5)
  },
)

test('signs that enclose all blocks close the last one, whatever paragraphs it has', () => {
  const cuts = new KnownCuts()
  const write = (texts: readonly string[]): string =>
    `Use these sources to answer what is asked.\n\n${texts.map((text, i) => `[${i + 1}] «${text}»`).join('\n')}\n\nQuestion: why?`
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old', 'bees paint their hives'].map(
    (words) => `The ${words}, and nobody knows why it is so.`,
  )
  for (let i = 0; i < 5; i++) cuts.learn('a', message, write(own), findContextLists(write(own)))
  const longer = [...own.slice(1), `${own[0]}\n \n**Best for:** those who wait.`]
  expect(cuts.cut('a', message, write(longer))?.blocks).toHaveLength(4)
  expect(cuts.cut('a', message, write(longer).replace('wait.»', 'wait.'))).toBeUndefined()
})

test('texts that tell their order are left to the rules, though the template is known', () => {
  const cuts = new KnownCuts()
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old'].map(
    (words) => `The ${words}, and nobody knows why it is so.`,
  )
  for (const write of [templates.tags, templates.labels]) {
    for (let i = 0; i < 5; i++) cuts.learn('a', message, write(own), findContextLists(write(own)))
    expect(cuts.cut('a', message, write(own))?.blocks).toHaveLength(3)
    const dated = own.map((one, i) => `2021-0${i + 1}-03: ${one}`)
    expect(cuts.cut('a', message, write(dated))).toBeUndefined()
    expect(cuts.cut('a', message, write([dated[1]!, dated[0]!, dated[2]!]))?.blocks).toHaveLength(3)
  }
})

test.each([[['1999', '2003', '2010']], [['March 2024', 'April 2024', 'May 2024']]])(
  'tags with dates in order are left to the rules, though the template is known: %j',
  (dates) => {
    const cuts = new KnownCuts()
    const write = (own: readonly string[]): string =>
      `Use these:\n<documents>\n${own.map((date, i) => `<document date="${date}">The mill ${'abc'[i]} is old.</document>`).join('\n')}\n</documents>\n\nQuestion: why?`
    const [first, second, third] = dates as [string, string, string]
    const mixed = write([second, first, third])
    for (let i = 0; i < 5; i++) cuts.learn('a', message, mixed, findContextLists(mixed))
    expect(cuts.cut('a', message, mixed)?.blocks).toHaveLength(3)
    expect(cuts.cut('a', message, write(dates))).toBeUndefined()
  },
)

test('what the rules leave alone is not cut for long', () => {
  const cuts = new KnownCuts()
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old', 'bees paint their hives'].map(
    (words) => `The ${words}, and nobody knows why it is so.`,
  )
  const whole = templates.tags(own)
  for (let i = 0; i < 5; i++) cuts.learn('a', message, whole, findContextLists(whole))
  cuts.learn('a', message, whole, [])
  expect(cuts.cut('a', message, whole)).toBeUndefined()
})

test('of long texts that begin alike and hold nothing, the rules read one in eight, until something is found', () => {
  const cuts = new KnownCuts()
  const long = (words: string): string => `Write on. ${words.repeat(2_000)}`
  const isRead = (whole: string): boolean => !cuts.isSkipped('a', message, whole)
  for (let i = 0; i < 16; i++) {
    expect(isRead(long('ferry and salt'))).toBe(true)
    cuts.learn('a', message, long('ferry and salt'), [])
  }
  expect(Array.from({ length: 16 }, () => isRead(long('ferry and salt'))).filter(Boolean)).toHaveLength(2)
  expect(isRead('Write on. Short ones are read each time.')).toBe(true)
  const whole = templates.tags(Array.from({ length: 4 }, (_, i) => `${i} ${'salt of Karvik '.repeat(400)}`))
  const found = findContextLists(whole)
  expect(found).toHaveLength(1)
  cuts.learn('a', message, long('ferry and salt'), found)
  expect(isRead(long('ferry and salt'))).toBe(true)
  // lists that may never be moved are as good as none
  for (let i = 0; i < 16; i++) cuts.learn('a', message, long('ferry and salt'), [...found, ...found], { isEmpty: true })
  expect(isRead(long('ferry and salt'))).toBe(false)
})

test('what a tool was asked to sort is left to the rules, and shows nothing of its template', () => {
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old'].map((words) => `The ${words}.`)
  const [content, result] = [templates.tags(own), { ...message, role: 'tool', tool: 'search' }]
  const cuts = new KnownCuts()
  for (let i = 0; i < 5; i++) cuts.learn('a', result, content, findContextLists(content))
  for (let i = 0; i < 5; i++) cuts.learn('a', { ...result, isSorted: true }, content, [])
  expect(cuts.cut('a', { ...result, isSorted: true }, content)).toBeUndefined()
  expect(cuts.cut('a', result, content)).toBeDefined()
})

describe('a template stays known, whatever the rules leave alone', () => {
  const own = ['ferry leaves at noon', 'salt of Karvik is grey', 'mills are old'].map(
    (words) => `The ${words}, and nobody knows why it is so.`,
  )
  const asked = (question: string): string => templates.tags(own).replace('why?', question)
  const others = {
    'a question that forbids to move them': asked('summarise each document in turn.'),
    'dates that rise': templates.tags(own.map((one, i) => `2021-0${i + 1}-03: ${one}`)),
    'a tag that a document closes': templates.tags([...own, 'It ends with\n</documents>\nand so on.']),
  }

  test.each(Object.entries(others))('%s', (_, other) => {
    const cuts = new KnownCuts()
    const known: KnownTemplates = {
      cut: (...own) => cuts.cut('a', ...own),
      learn: (...own) => cuts.learn('a', ...own),
    }
    const search = (content: string) => finish(searchInSteps(message, [content], undefined, known))
    const isCut = (content: string): boolean => cuts.cut('a', message, content) !== undefined
    for (let i = 0; i < 5; i++) search(templates.tags(own))
    // they are read by the rules now and then, or always
    for (let i = 0; i < 200; i++) search(other)
    expect([isCut(templates.tags(own)), isCut(templates.tags(own))]).toContain(true)
  })
})
