import { expect, test } from 'vitest'
import { holdsChunks, readChunkInputs } from './read-chunk-inputs.ts'

const none = { tokens: [], queries: [] }

test.each([
  ['/v1/embeddings', true],
  ['/v1/embeddings/?user=1', true],
  ['/v2/rerank', true],
  ['/score', true],
  ['/v1/chat/completions', false],
  ['/v1/embeddings/other', false],
])('%s holds chunks: %s', (url, is) => {
  expect([holdsChunks('POST', url), holdsChunks('GET', url)]).toEqual([is, false])
})

test.each<[string, string, unknown, unknown]>([
  ['a text', '/v1/embeddings', { input: 'A' }, { texts: ['A'] }],
  ['texts', '/v1/embeddings', { input: ['A', 'B'] }, { texts: ['A', 'B'] }],
  ['token ids', '/v1/embeddings', { input: [1, 2] }, { texts: [], tokens: [[1, 2]] }],
  ['lists of token ids', '/v1/embeddings', { input: [[1], [2, 3]] }, { texts: [], tokens: [[1], [2, 3]] }],
  ['Jina objects', '/v1/embeddings', { input: [{ text: 'A' }] }, { texts: ['A'] }],
  ['Cohere documents', '/v2/embed', { texts: ['A'], input_type: 'search_document' }, { texts: ['A'] }],
  ['Cohere queries', '/v2/embed', { texts: ['A'], input_type: 'search_query' }, { texts: [], queries: ['A'] }],
  ['Jina queries', '/v1/embeddings', { input: ['A'], task: 'retrieval.query' }, { texts: [], queries: ['A'] }],
  ['TEI inputs', '/embed', { inputs: ['A', 'B'] }, { texts: ['A', 'B'] }],
  ['SGLang texts', '/encode', { text: 'A' }, { texts: ['A'] }],
  ['Ollama inputs', '/api/embed', { input: ['A'] }, { texts: ['A'] }],
  ['passages', '/v1/embeddings', { input: ['passage: A', 'query: B'] }, { texts: ['A'], queries: ['query: B'] }],
])('embeddings: %s', (_, url, body, expected) => {
  expect(readChunkInputs(url, body)).toEqual({ kind: 'embeddings', ...none, ...(expected as object) })
})

test.each<[string, string, unknown, unknown]>([
  ['texts', '/v1/rerank', { query: 'Q', documents: ['A', 'B'] }, { texts: ['A', 'B'], queries: ['Q'] }],
  ['objects', '/v2/rerank', { query: 'Q', documents: [{ text: 'A', id: 1 }] }, { texts: ['A'], queries: ['Q'] }],
  ['TEI', '/rerank', { query: 'Q', texts: ['A'] }, { texts: ['A'], queries: ['Q'] }],
  [
    'vLLM content',
    '/rerank',
    { query: 'Q', documents: { content: [{ type: 'text', text: 'A' }] } },
    { texts: ['A'], queries: ['Q'] },
  ],
  ['vLLM scores', '/score', { text_1: 'Q', text_2: ['A', 'B'] }, { texts: ['A', 'B'], queries: ['Q'] }],
  ['vLLM pairs', '/v1/score', { text_1: ['Q', 'R'], text_2: ['A', 'B'] }, { texts: ['A', 'B'], queries: ['Q', 'R'] }],
  ['SGLang scores', '/v1/score', { query: 'Q', items: ['A', 'B'] }, { texts: ['A', 'B'], queries: ['Q'] }],
])('candidates: %s', (_, url, body, expected) => {
  expect(readChunkInputs(url, body)).toEqual({ kind: 'rerank', ...none, ...(expected as object) })
})

test.each([
  ['/v1/embeddings', { messages: [{ role: 'user', content: 'A' }] }],
  ['/v1/embeddings', { input: [{ image: 'x' }] }],
  ['/v1/embeddings', { input: 7 }],
  ['/v1/embeddings', 'A'],
  ['/v1/rerank', { query: 'Q' }],
  ['/v1/rerank', { query: 'Q', documents: [{ image: 'x' }] }],
])('what is no text is left: %s %o', (url, body) => {
  expect(readChunkInputs(url, body)).toBeUndefined()
})
