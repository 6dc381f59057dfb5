import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { nouns } from '../scan/words/nouns.ts'
import { readNoun } from '../scan/words/read-noun.ts'
import { rain, sun } from './form.fixture.ts'
import { findContextLists, findSureLists } from './found-lists.fixture.ts'
import { forms } from './known-forms.fixture.ts'

/** Returns the number of blocks in a text's only list, or 0 unless there is exactly one. */
function countBlocks(text: string): number {
  const lists = findContextLists(text).filter(({ blocks }) => blocks.length > 1)
  return lists.length === 1 ? lists[0]!.blocks.length : 0
}

describe.each(forms)('the form $id: $what', ({ examples, alike }) => {
  it.each(examples)('is found in %j', (text) => {
    expect(countBlocks(text)).toBe(2)
    const [first, second] = findContextLists(text)[0]!.blocks.map(({ start, end }) => text.slice(start, end))
    expect([first!, second!].map((block) => /Oslo|boat|巴黎/.test(block))).toEqual([true, false])
    expect(second).toMatch(/Rome|tea|柏林/)
  })

  it.each(alike)('is not found in %j', (text) => {
    expect(findContextLists(text).filter(({ blocks }) => blocks.length > 1)).toEqual([])
  })
})

test('the table names every reader of labels and lists, and no other file', () => {
  const folder = join(import.meta.dirname, '..')
  const readers = ['scan/labels', 'forms/enclosed', 'forms/headed', 'forms/lines'].flatMap((room) =>
    readdirSync(join(folder, room))
      .filter((name) => /^find-[\w-]+\.ts$/.test(name))
      .map((name) => `${room}/${name}`),
  )
  const named = new Set(forms.flatMap(({ readBy }) => readBy))
  expect(readers.filter((path) => !named.has(path))).toEqual([])
  expect([...named].filter((path) => !existsSync(join(folder, path)))).toEqual([])
})

describe('every noun of the vocabulary', () => {
  const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)
  const labels = nouns.filter(({ label }) => label !== undefined)

  it.each(labels)('is a label: $singular', ({ singular, language }) => {
    const gap = language === 'zh' || language === 'ja' ? '' : ' '
    const noun = capital(singular)
    for (const write of [
      (n: number, body: string) => `${noun}${gap}${n}: ${body}`,
      (n: number, body: string) => `[${noun}${gap}${n}] ${body}`,
      (n: number, body: string) => `### ${noun}${gap}${n}\n${body}`,
      (n: number, body: string) => `**${noun}${gap}${n}:** ${body}`,
    ]) {
      const text = `Use these sources:\n\n${write(1, rain)}\n\n${write(2, sun)}\n\nQuestion: why?`
      expect(countBlocks(text), text).toBe(2)
    }
  })

  it.each(nouns.filter(({ tag, language }) => tag !== undefined && language !== 'zh'))(
    'is a tag: $singular',
    ({ singular }) => {
      const name = singular.replaceAll(' ', '_').normalize('NFD').replace(/\p{M}/gu, '')
      const text = `<documents>\n<${name}>${rain}</${name}>\n<${name}>${sun}</${name}>\n</documents>\n\nWhy?`
      if (/^\w+$/.test(singular.replaceAll(' ', '_'))) expect(countBlocks(text), text).toBe(2)
    },
  )

  it.each(nouns.filter(({ announces }) => announces === 'strong'))('announces bare numbers: $plural', ({ plural }) => {
    expect(countBlocks(`${capital(plural)}:\n[1] ${rain}\n[2] ${sun}\n\nQuestion: why?`)).toBe(2)
  })

  it('is weak where it also names a part of one text', () => {
    expect(['file', 'Result', 'Note'].map((word) => readNoun(word, 0).isWeak)).toEqual([true, true, true])
    expect(['Document', 'source', '文档'].map((word) => readNoun(word, 0).isWeak)).toEqual([false, false, false])
  })
})

describe('what is left alone', () => {
  it.each([
    ['torn_tags', '<document>A\n<document>B</document>\n<document>C</document>\n</document>\n</document>'],
    ['no_evidence', `[1] ${rain}\n[2] ${sun}`],
    [
      'ordered_fields',
      JSON.stringify({
        results: [
          { step: 1, text: rain },
          { step: 2, text: sun },
        ],
      }),
    ],
    ['example', `<examples>\n<document>${rain}</document>\n<document>${sun}</document>\n</examples>`],
    ['open_end', '[1] A\n\nmore A\n\n[2] B\n\nmore B or the question?'],
  ])('has a reason and a place: %s', (reason, text) => {
    const { lists, refusals } = findSureLists(text)
    expect(lists.filter(({ blocks }) => blocks.length > 1)).toEqual([])
    expect(refusals.map(({ refused }) => refused)).toContain(reason)
    for (const { at } of refusals) expect(at.start).toBeLessThan(at.end)
  })

  it('is what a tool read, whatever it holds; what it searched for is found', () => {
    const text = `Document 1: ${rain}\nDocument 2: ${sun}`
    for (const tool of ['read_file', 'run_command', 'readChannel', 'git_log', 'list_comments']) {
      expect(findSureLists(text, { whole: true, tool })).toMatchObject({
        lists: [],
        refusals: [{ refused: 'one_text' }],
      })
    }
    for (const tool of ['web_search', 'retrieve', 'searchDocs', 'knowledge_base', undefined]) {
      expect(findContextLists(text, { whole: true, tool })).toHaveLength(1)
    }
  })
})
