import { isObject, type Json } from '#engine-adapters/json-object.ts'

/** What a request asks an engine to embed or to rank. */
export interface ChunkInputs {
  /** texts to embed come in the order of their source, candidates of a rerank in the order of a search */
  readonly kind: 'embeddings' | 'rerank'
  readonly texts: readonly string[]
  /** texts as token ids */
  readonly tokens: readonly (readonly number[])[]
  /** search queries: not chunks, whatever else is known about them */
  readonly queries: readonly string[]
}

type Reader = (body: Json) => ChunkInputs | undefined

/** The requests that contain chunks, by path: OpenAI's, Cohere's, Jina's, TEI's, vLLM's, SGLang's and Ollama's. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ...['/v1/embeddings', '/embeddings', '/v1/embed', '/v2/embed', '/embed', '/embed_all', '/encode', '/pooling'].map(
    (path): [string, Reader] => [path, readEmbeddings],
  ),
  ...['/api/embed', '/api/embeddings'].map((path): [string, Reader] => [path, readEmbeddings]),
  ...['/rerank', '/v1/rerank', '/v2/rerank'].map((path): [string, Reader] => [
    path,
    ({ query, documents, texts, passages }) => toCandidates(query, documents ?? texts ?? passages),
  ]),
  ...['/score', '/v1/score'].map((path): [string, Reader] => [path, readScore]),
])

/** Models that embed questions and documents differently expect a prefix that says which it is. */
const QUERY =
  /^(?:query|search_query|Instruct|task: search result \| query)\s*:|^Represent this sentence for searching/i
const DOCUMENT = /^(?:passage|search_document|document|title: none \| text)\s*:\s*/i
/** Cohere's `input_type`, Jina's `task`, NVIDIA's and others' words for the same. */
const ASKING = /query|question/i

/** Whether chunks may be learned from requests to this path. */
export function holdsChunks(method: string | undefined, url: string | undefined): boolean {
  return method === 'POST' && readers.has(pathOf(url))
}

/** Reads the body of a request to this path; undefined for unknown shapes. */
export function readChunkInputs(url: string | undefined, body: unknown): ChunkInputs | undefined {
  return isObject(body) ? readers.get(pathOf(url))?.(body) : undefined
}

function pathOf(url = ''): string {
  const end = url.search(/[?#]/)
  return (end < 0 ? url : url.slice(0, end)).replace(/\/+$/, '')
}

function readEmbeddings(body: Json): ChunkInputs | undefined {
  const input = body.input ?? body.inputs ?? body.texts ?? body.text ?? body.prompt
  const items = isTokens(input) || !Array.isArray(input) ? [input] : input
  const texts = items.flatMap(textOf)
  const tokens = items.filter(isTokens)
  if (texts.length + tokens.length < items.length) return undefined
  const asks = [body.input_type, body.task, body.task_type, body.prompt_name].some(
    (word) => typeof word === 'string' && ASKING.test(word),
  )
  const queries = texts.filter((text) => asks || QUERY.test(text))
  const documents = texts.filter((text) => !asks && !QUERY.test(text)).map((text) => text.replace(DOCUMENT, ''))
  return { kind: 'embeddings', texts: documents, tokens: asks ? [] : tokens, queries }
}

/** vLLM's `text_1` and `text_2` (later `queries` and `documents`), SGLang's `query` and `items`. */
function readScore(body: Json): ChunkInputs | undefined {
  const query = body.text_1 ?? body.data_1 ?? body.queries ?? body.query
  return toCandidates(query, body.text_2 ?? body.data_2 ?? body.documents ?? body.items)
}

function toCandidates(query: unknown, documents: unknown): ChunkInputs | undefined {
  const given = isObject(documents) && Array.isArray(documents.content) ? documents.content : documents
  const items = Array.isArray(given) && !isTokens(given) ? given : [given]
  const texts = items.flatMap(textOf)
  if (texts.length === 0) return undefined
  const queries = (Array.isArray(query) ? query : [query]).flatMap(textOf)
  return { kind: 'rerank', texts, tokens: items.filter(isTokens), queries }
}

/** Returns a text, or the text in an object that has one. */
function textOf(item: unknown): string[] {
  if (typeof item === 'string') return [item]
  if (isObject(item) && typeof item.text === 'string') return [item.text]
  return []
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Number.isInteger(item))
}
