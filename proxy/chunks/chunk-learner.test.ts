import { get_encoding } from 'tiktoken'
import { beforeEach, expect, test } from 'vitest'
import { blocksIn, createKnown, documentText, embed, rerank } from './chunk-texts.fixture.ts'
import { KnownChunks } from './known-chunks.ts'
import { readChunkInputs } from './read-chunk-inputs.ts'

const [a, b, c, d] = [1, 2, 3, 4].map(documentText) as [string, string, string, string]
const question =
  'Explain to me in some detail how the harbour and the orchard were built, and by whom they were paid for.'
let chunks: KnownChunks

beforeEach(() => {
  chunks = createKnown()
})

test('a question that was embedded is no chunk', async () => {
  await embed(chunks, [b, a])
  await embed(chunks, [question])
  expect(blocksIn(chunks, `${a}\n\n${b}\n\n${question}`)).toEqual([[a, b]])
  expect(blocksIn(chunks, `${question}\n\n${a}\n\n${b}`)).toEqual([[a, b]])
})

test('nor are several that are asked one behind the other, each with its prompt', async () => {
  await embed(chunks, [b, a])
  for (const text of [question, `${question} And why?`, `${question} When was that?`, `${question} Say it.`]) {
    await embed(chunks, [text])
    chunks.prompted('default')()
  }
  expect(blocksIn(chunks, `${a}\n\n${b}\n\n${question}`)).toEqual([[a, b]])
})

test('nor those that are asked while others are answered', async () => {
  await embed(chunks, [b, a])
  const ended = chunks.prompted('default')
  for (const text of [c, d, question, `${question}.`]) await embed(chunks, [text])
  ended()
  expect(blocksIn(chunks, `${a}\n\n${b}\n\n${question}`)).toEqual([[a, b]])
})

test('chunks that are embedded one by one are chunks', async () => {
  for (const text of [c, b, a]) await embed(chunks, [text])
  expect(blocksIn(chunks, `${a}\n\n${b}\n\n${c}`)).toEqual([[a, b, c]])
})

test('short texts and questions are none, whatever they are embedded with', async () => {
  const short = 'Harbours are built by the sea, as everyone knows.'
  await embed(chunks, [b, short, `${question.slice(0, -1)}?`, a])
  expect([chunks.size, blocksIn(chunks, `${a}\n\n${short}\n\n${b}`)]).toEqual([2, []])
})

test('what is searched with in a rerank is forgotten as a chunk', async () => {
  for (const text of [question, a]) await embed(chunks, [text])
  await rerank(chunks, question, [a, b])
  await rerank(chunks, 'Who was it?', [b, d, a])
  await embed(chunks, [c])
  expect(blocksIn(chunks, `${question}\n\n${a}\n\n${b}`)).toEqual([[a, b]])
})

test('token ids as LangChain sends them are texts', async () => {
  const encoding = get_encoding('cl100k_base')
  const ids = [b, a, `${c} 漢字 😀`].map((text) => [...encoding.encode(text)])
  encoding.free()
  const lesson = chunks.begin('default')
  await lesson.learn(readChunkInputs('/v1/embeddings', { model: 'm', input: ids })!)
  lesson.end()
  expect(blocksIn(chunks, `${a}\n\n${b}\n\n${c} 漢字 😀`)).toEqual([[a, b, `${c} 漢字 😀`]])
})

test('ids of another vocabulary are counted, and nothing else', async () => {
  const ignored: string[] = []
  chunks = new KnownChunks({
    maxChunks: 10,

    source: 1,
    onIgnored: (reason, count) => ignored.push(`${reason} ${count}`),
  })
  const lesson = chunks.begin('default')
  await lesson.learn({ kind: 'embeddings', texts: [], tokens: [[200_000, 5], [-1], [222]], queries: [] })
  expect([chunks.size, ignored]).toEqual([0, ['tokens 3']])
})

test('nothing is learned where nothing may be kept', async () => {
  chunks = new KnownChunks({ maxChunks: 0, source: 1 })
  await embed(chunks, [a, b])
  expect([chunks.size, chunks.finderFor('default')]).toEqual([0, undefined])
})
