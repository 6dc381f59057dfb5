import { beforeEach, expect, test } from 'vitest'
import { blocksIn, createKnown, documentText, findIn } from './chunk-texts.fixture.ts'
import type { KnownChunks } from './known-chunks.ts'

const [a, b, c, d] = Array.from({ length: 4 }, (_, n) => documentText(n)) as [string, string, string, string]
let chunks: KnownChunks
beforeEach(() => {
  chunks = createKnown()
})

const put = (...texts: string[]): Promise<unknown> =>
  chunks.put(
    texts.map((text) => ({ text })),
    undefined,
  )

test('an export in which two chunks follow one another in both ways, as the results of two questions do, has no order', async () => {
  await put(a, b, c, d, b, a)
  expect(blocksIn(chunks, `${b}\n\n${a}\n\n${d}`)).toEqual([[b, a, d]])
  // chunks that followed each other in one order only are one text
  expect(findIn(chunks, `${b}\n\n${c}`)).toMatchObject({ lists: [], refused: ['one_text'] })
})

test('two exports may have two orders: that of a text is one of them', async () => {
  await put(a, b, c)
  await put(c, b, a)
  for (const text of [`${a}\n\n${b}\n\n${c}`, `${c}\n\n${b}\n\n${a}`]) {
    expect(findIn(chunks, text)).toMatchObject({ lists: [], refused: ['one_text'] })
  }
})

test('a chunk that comes twice, as the head of every document, takes the order from no other', async () => {
  await put(a, b, c, a, d)
  expect(findIn(chunks, `${a}\n\n${b}\n\n${c}`)).toMatchObject({ lists: [], refused: ['one_text'] })
})
