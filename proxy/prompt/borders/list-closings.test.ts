import { describe, expect, it, test } from 'vitest'
import { behindLists, contentsOf, findContextLists } from '../forms/found-lists.fixture.ts'

const [rain, sun, wind] = ['Rain falls on Monday.', 'Sun shines.\n\nOn Tuesday.', 'Wind blows on Friday.']

describe('blocks that are closed by their own numbers', () => {
  it.each([
    ['as AnythingLLM writes them', 0, '[CONTEXT {i}]:\n', '\n[END CONTEXT {i}]\n\n'],
    ['a closing label', 1, '[Document {i}]\n', '\n[/Document {i}]\n'],
    ['a closing number', 1, '[{i}] ', '\n[/{i}]\n\n'],
    ['a line in words', 1, 'Source {i}:\n', '\n--- End of source {i} ---\n\n'],
    ['capitals', 1, '### Chunk {i}\n', '\n### END OF CHUNK {i} ###\n'],
    ['line ends of Windows', 1, 'Passage {i}:\r\n', '\r\n(End passage {i})\r\n\r\n'],
  ])('%s: the numbers stay in their places', (_, from, open, close) => {
    const write = (blocks: readonly string[]): string =>
      blocks.map((block, i) => `${open}${block}${close}`.replaceAll('{i}', `${from + i}`)).join('')
    for (const tail of ['', 'Question: why?', 'Be brief.\n\nwhy?']) {
      const text = `Sources:\n${write([rain!, sun!, wind!])}${tail}`
      expect(contentsOf(text)).toEqual([[rain, sun, wind]])
      // and the annotation comes after the last of them
      expect(behindLists(text).map((behind) => behind.trim())).toEqual([tail])
    }
  })

  it('are left alone when one of them is closed by another number, or not at all', () => {
    const texts = [
      `[Chunk 1]\n${rain}\n[END Chunk 1]\n[Chunk 2]\n${wind}\n\nQuestion: why?`,
      `[Chunk 1]\n${rain}\n[END Chunk 1]\n[Chunk 2]\n${wind}\n[END Chunk 3]\n\nQuestion: why?`,
    ]
    for (const text of texts) expect(findContextLists(text)).toEqual([])
  })
})

test('a closing line travels with its block where the numbers are names', () => {
  const text = `[Chunk 17]\n${rain}\n[END Chunk 17]\n\n[Chunk 4]\n${wind}\n[END Chunk 4]\n\nQuestion: why?`
  expect(contentsOf(text)).toEqual([[`${rain}\n[END Chunk 17]`, `${wind}\n[END Chunk 4]`]])
})

test('the closing of a list says the words of its opening, and is no part of its last block', () => {
  const list = `<chunk source="a.md">\n${rain}\n</chunk>\n<chunk source="b.md">\n${wind}\n</chunk>`
  for (const [open, close] of [
    ['START CONTEXT BLOCK', 'END OF CONTEXT BLOCK'],
    ['--- Begin of the search results ---', '--- End of the search results ---'],
  ]) {
    expect(behindLists(`${open}\n${list}\n${close}\nQuestion: why?`)).toEqual(['\nQuestion: why?'])
    expect(behindLists(`${open}\n${list}\nEND OF STORY\nQuestion: why?`)).toEqual(['\nEND OF STORY\nQuestion: why?'])
    const labelled = `${open}\n[Doc 1] ${sun}\n\n[Doc 2] ${sun}\n${close}\n\nQuestion: why?`
    expect(contentsOf(labelled)).toEqual([[sun, sun]])
  }
})

test('a closing line of what the last block itself opens is a line of the block', () => {
  const quoted = `${wind}\n[code]\nx = 1\n[/code]`
  expect(contentsOf(`Sources:\n[Doc 1] ${rain}\n[Doc 2] ${quoted}\n\nQuestion: why?`)).toEqual([[rain, quoted]])
})
