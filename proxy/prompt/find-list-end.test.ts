import { describe, expect, it } from 'vitest'
import { findContextLists } from './find-context-lists.ts'
import { behindLists, contentsOf } from './found-lists.fixture.ts'

const write = (kind: string, blocks: readonly string[]): [string, string][] => [
  [`[n], ${kind}`, blocks.map((block, i) => `[${i + 1}] ${block}`).join('\n')],
  [`Source n:, ${kind}`, blocks.map((block, i) => `Source ${i + 1}: ${block}`).join('\n\n')],
  [`Document n:, ${kind}`, blocks.map((block, i) => `Document ${i + 1}:\n${block}`).join('\n\n')],
  [`### Document n, ${kind}`, blocks.map((block, i) => `### Document ${i + 1}\n${block}`).join('\n')],
  [`file_path:, ${kind}`, blocks.map((block, i) => `file_path: ${i}.md\n\n${block}`).join('\n\n')],
]
const lists = [
  ...write('a line each', ['Alpha is first.', 'Beta is second.', 'Gamma is third.']),
  ...write('two lines each', ['Alpha is first.\nMore on it.', 'Beta is second.\nMore.', 'Gamma is third.\nMore here.']),
]

describe.each(lists)('behind a list of %s', (_, list) => {
  it.each([
    'Tell me about Alpha',
    'Be brief.\nTell me about Alpha',
    'Q: x',
    'Query x',
    '---\nTell me about Alpha',
    '***\nTell me',
    '___\nTell me',
    '-- \nTell me',
    '>>> tell me',
    '[QUESTION] tell me',
    '{"question":"tell me"}',
    '(Use only the sources above.)',
    'Was ist Alpha',
    'Пожалуйста, ответь',
    '以上を参考に答えて',
  ])('%j in the next line stays where it is', (tail) => {
    for (const [before, end] of [
      ['Context:\n', '\n'],
      ['Context:\n', '\r\n'],
      ['-----\n', '\n'],
    ] as const) {
      const text = `${before}${list}${end}${tail}`
      const ends = findContextLists(text).map(({ blocks }) => blocks.at(-1)!.end)
      expect(Math.max(0, ...ends)).toBeLessThanOrEqual(text.length - tail.length)
    }
  })

  it.each([
    ['"""', '"""', '\nQuestion: x'],
    ["'''", "'''", '\n\nQ?'],
    ['[CONTEXT]', '[/CONTEXT]', '\n\nQ?'],
    ['{context}', '{/context}', '\n\nQ?'],
    ['{% context %}', '{% endcontext %}', '\nTell me'],
    ['BEGIN CONTEXT', 'END CONTEXT', '\nTell me'],
    ['--- BEGIN OF DOCUMENTS ---', '--- END OF DOCUMENTS ---', '\nTell me'],
    ['<<<', '>>>', '\r\nTell me'],
    ['The context is:\n{', '}', '\nTell me'],
  ])('what closes %j is of the list, but of no block', (opening, closing, tail) => {
    const text = `Use this.\n${opening}\n\n${list}\n${closing}${tail}`
    const found = findContextLists(text)
    expect(found.map(({ blocks }) => text.slice(blocks.at(-1)!.end))).toEqual([`\n${closing}${tail}`])
    expect(behindLists(text)).toEqual([tail])
  })

  it.each(['[/CONTEXT]', 'END CONTEXT', '{/context}', '</documents>', '</context>', '"""'])(
    '%j, which nothing opens, stays where it is, too',
    (closing) => {
      expect(behindLists(`Context:\n\n${list}\n${closing}\n\nQuestion: x`)).toEqual([`\n${closing}\n\nQuestion: x`])
    },
  )
})

describe('what a last block opens and closes itself', () => {
  it.each([
    'see\n[CODE]\nx\n[/CODE]',
    'BEGIN CONTEXT\nx\nEND CONTEXT',
    'def f():\n"""\nx\n"""',
    '<documents>\n<b>x</b>\n</documents>',
    'if (x) {\ny\n}',
  ])('belongs to it: %j', (block) => {
    expect(contentsOf(`[1] A\n[2] ${block}\n\nQuestion: x`)).toEqual([['A', block]])
  })

  it('leaves no list where a quotation around it cannot be told from one in it', () => {
    expect(contentsOf('"""\n[1] a\n"""\nb\n"""\n[2] c\n"""\nQuestion: x')).toEqual([])
    expect(contentsOf('"""\n[1] a\n[2] b"""\nQuestion: x')).toEqual([])
  })
})

describe('paragraphs between a list and its cue', () => {
  const list = '[1] A\r\n\r\n[2] B\r\n\r\n[3] p1'

  it.each([
    'p2\r\n\r\nQuestion: x',
    'p2\n\nQuestion: x',
    'p2\n\np3\n\nQuestion: x',
    'p2\n\nWhat is it?',
    'p2\n\n## Question\nx',
  ])('may be of the last block, and the list is left alone: %j', (behind) => {
    expect(contentsOf(`${list}\r\n\r\n${behind}`)).toEqual([])
  })

  it('may be of the last block of a container, and of a tool result', () => {
    expect(contentsOf(`<context>\n${list}\n\np2\n</context>\n\nWhy?`)).toEqual([[`${list}\n\np2`]])
    expect(findContextLists(`${list}\n\np2`, { whole: true })).toEqual([])
  })

  it.each([
    'Use the sources.\n\nWhat?',
    'Use only the sources above.\n\nQuestion: x',
    "If you don't know the answer, say so.\n\nQuestion: x",
    'What is Alpha?\n\nAnswer:',
    'Tell me about it.\n\nAnswer:',
    'Tell me about it.',
    'Be brief.\n\nQuestion: x',
    'Conversation history:\nUser: hi\n\nQuestion: x',
    'Source 1: C\nSource 2: D\n\nQuestion: x',
    '---\n\nNow.\n\nQuestion: x',
  ])('are of the prompt beyond doubt: %j', (behind) => {
    expect(contentsOf(`${list}\n\n${behind}`)[0]).toEqual(['A', 'B', 'p1'])
  })

  it('may ask or instruct behind blocks that have paragraphs themselves', () => {
    const long = '[1] A\n\nmore\n\n[2] B\n\nmore'
    expect(contentsOf(`${long}\n\nWhat is A?\n\nAnswer:`)).toEqual([])
    expect(contentsOf(`${long}\n\nUse only the sources.\n\nQuestion: x`)).toEqual([])
    expect(contentsOf(`${long}\n\nQuestion: x`)).toEqual([['A\n\nmore', 'B\n\nmore']])
  })
})
