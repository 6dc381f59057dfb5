import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { runReprise } from './run-reprise.ts'
import { startRunningReprise } from './run-reprise-beside.ts'
import { errorOf, postJson, startTestProxy } from './start-test-proxy.ts'

const subjects = ['Rivers of the north', 'How bread is made', 'Orbits', 'The long winter', 'Birds that stay']
const docs = subjects.map(
  (subject, n) =>
    `${subject}\nWhat is told of ${subject.toLowerCase()} is from ${1900 + 7 * n}.\n\nIt ends here, ${subject}.`,
)
let engine: RecordingEngineDouble
let proxy: RunningProxy
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-chunks-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url })
})

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

const prompt = (order: readonly number[], question = 'why?') => ({
  model: 'm',
  messages: [{ role: 'user', content: `Context:\n${order.map((n) => docs[n]).join('\n\n')}\n\nQuestion: ${question}` }],
})

const ask = (order: readonly number[], headers: Record<string, string> = {}): Promise<Response> =>
  postJson(`${proxy.url}/v1/chat/completions`, prompt(order), { headers })

const put = (body: unknown, query = ''): Promise<Response> =>
  postJson(`${proxy.adminUrl}/v1/chunks${query}`, body, { method: 'PUT' })

const blocksOf = (response: Response): string | null => response.headers.get('x-reprise-blocks')

test('what is embedded passes to the byte, and its borders are known in the next prompt', async () => {
  const body = `{ "model": "m",  "input": ${JSON.stringify(docs)}, "x": 1.0 }`
  expect((await postJson(`${proxy.url}/v1/embeddings`, body)).status).toBe(200)
  expect(engine.requests.at(-1)!.body.toString()).toBe(body)
  expect(blocksOf(await ask([4, 2, 0]))).toBe('3')
  const second = await ask([0, 4, 2])
  expect([blocksOf(second), second.headers.get('x-reprise-moved')]).toEqual(['3', '3'])
  const sent = JSON.parse(engine.requests.at(-1)!.body.toString()).messages[0].content
  expect(sent).toContain([4, 2, 0].map((n) => docs[n]).join('\n\n'))
  // another tenant does not know these chunks
  expect(blocksOf(await ask([0, 4, 2], { authorization: 'Bearer other' }))).toBe('0')
  const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  expect(metrics).toContain('reprise_known_chunks 5')
  expect(metrics).toContain('reprise_chunks_learned_total{source="embeddings"} 5')
  expect(metrics).toContain('reprise_chunk_lists_total{outcome="found"} 2')
})

test('the candidates of two reranks are known in the very next prompt', async () => {
  await postJson(`${proxy.url}/v1/rerank`, { model: 'm', query: 'why?', documents: docs })
  expect(blocksOf(await ask([0, 1, 2]))).toBe('0')
  await postJson(`${proxy.url}/v1/rerank`, { model: 'm', query: 'how?', documents: docs.toReversed() })
  expect(blocksOf(await ask([0, 1, 2]))).toBe('3')
})

describe("the pieces of one user's document", () => {
  const document = {
    model: 'm',
    messages: [{ role: 'user', content: `${docs.join('\n\n')}\n\nWhat do I have to do first?` }],
  }
  const shuffled = [3, 1, 4, 0, 2]

  test.each([
    ['reranked once', '/v1/rerank', { query: 'x', documents: shuffled.map((n) => docs[n]) }],
    ['reranked once, after they were embedded', '/v1/rerank', { query: 'x', documents: shuffled.map((n) => docs[n]) }],
    ['embedded', '/v1/embeddings', { input: docs }],
  ])('stay in their order whatever another user sends: %s', async (what, path, body) => {
    if (what.includes('after')) await postJson(`${proxy.url}/v1/embeddings`, { model: 'm', input: docs })
    await postJson(proxy.url + path, { model: 'm', ...body })
    await ask(shuffled, {})
    const response = await postJson(`${proxy.url}/v1/chat/completions`, document)
    expect(response.headers.get('x-reprise-moved')).toBe('0')
    expect(JSON.parse(engine.requests.at(-1)!.body.toString())).toEqual(document)
  })
})

test('what cannot be read passes, and is counted', async () => {
  const send = (body: Buffer | string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${proxy.url}/v1/embeddings`, { method: 'POST', body, headers })
  const zipped = gzipSync(JSON.stringify({ input: docs }))
  for (const [body, headers] of [
    ['{"input": [', {}],
    ['{"input": 7}', {}],
    [zipped, { 'content-encoding': 'gzip' }],
    [JSON.stringify({ input: docs, padding: 'x'.repeat(9 << 20) }), {}],
  ] as const) {
    expect((await send(body, headers)).status).toBe(200)
    expect(engine.requests.at(-1)!.body.equals(Buffer.from(body))).toBe(true)
  }
  const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  expect(metrics).toContain('reprise_chunks_ignored_total{reason="unreadable"} 2')
  expect(metrics).toContain('reprise_chunks_ignored_total{reason="encoded"} 1')
  expect(metrics).toContain('reprise_chunks_ignored_total{reason="too_large"} 1')
  expect(metrics).toContain('reprise_known_chunks 0')
})

test('chunks are registered as an object, an array or JSONL, counted, explained and forgotten', async () => {
  const chunk = (n: number) => ({ id: `c${n}`, text: docs[n] })
  const report = await (await put({ chunks: [chunk(0), chunk(3)] })).json()
  expect(report).toEqual({ added: 2, known: 0, too_short: 0, crowded: 0, chunks: 2 })
  expect(await (await put([chunk(3), docs[1]])).json()).toMatchObject({ added: 1, known: 1 })
  const lines = [chunk(2), { text: 'too short' }].map((one) => JSON.stringify(one)).join('\n')
  expect(await (await put(`${lines}\n`, '?tenant=acme')).json()).toMatchObject({ added: 1, too_short: 1 })
  const known = await (await fetch(`${proxy.adminUrl}/v1/chunks`)).json()
  expect(known).toMatchObject({ chunks: 4, everyone: 3, tenants: { acme: 1 }, learned: 0, learns: true })
  const explained = await (await postJson(`${proxy.adminUrl}/v1/explain`, prompt([1, 3, 0]))).json()
  expect(explained).toMatchObject({
    lists: [{ first_block: 0, blocks: 3, found_by: 'known_chunks' }],
    known_chunks: { matched: 3, lists: 1, refused: {} },
  })
  const forget = async (body?: unknown, query = ''): Promise<unknown> =>
    (
      await fetch(`${proxy.adminUrl}/v1/chunks${query}`, {
        method: 'DELETE',
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    ).json()
  // an empty selection is rejected: a caller who names nothing by mistake must not lose everything
  expect(await forget({})).toMatchObject({ error: { code: 'invalid_body' } })
  expect(await forget({ ids: ['c0', 'c9'] })).toEqual({ forgotten: 1, chunks: 3 })
  expect(await forget({ texts: [docs[1]] })).toEqual({ forgotten: 1, chunks: 2 })
  expect(await forget(undefined, '?tenant=acme')).toEqual({ forgotten: 1, chunks: 1 })
  expect(await forget()).toEqual({ forgotten: 1, chunks: 0 })
})

test.each([
  ['{"text": "a"}\n{"txt": "b", "meta": 1}', "line 2 has no text: its text has to be in 'text' (it has txt, meta)."],
  ['{"text": "a"}\nnot JSON', 'line 2 is not valid JSON: write {"id"?,"text"}, one in each line.'],
  ['[{"text": "a"}, 7]', 'chunk 2 is no chunk: write {"id"?,"text"}, or a text.'],
  ['{"chunks": 7}', '\'chunks\' has to be an array of {"id"?,"text"}.'],
  ['{"chunks": [{"id": {}, "text": "a"}]}', "chunk 1: 'id' has to be a text or a number."],
  ['{"chunks": [], "tenant": 7}', "'tenant' has to be a name; leave it out for everyone."],
])('what is no chunk is refused with its line, and nothing is registered: %s', async (body, message) => {
  const response = await put(body.replace('"a"', JSON.stringify(docs[0])))
  expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body', message }])
  expect(await (await fetch(`${proxy.adminUrl}/v1/chunks`)).json()).toMatchObject({ chunks: 0 })
})

test('reprise chunks tells a running proxy of a file, a folder and the standard input', async () => {
  const add = (file: string, input?: string) =>
    startRunningReprise(['chunks', 'add', file, '--admin', proxy.adminUrl], input)
  const lines = docs.slice(0, 2).map((text, n) => JSON.stringify({ id: n, text, metadata: {} }))
  writeFileSync(join(folder, 'two.jsonl'), lines.join('\n'))
  expect(JSON.parse((await add(join(folder, 'two.jsonl'))).stdout)).toEqual({
    added: 2,
    known: 0,
    too_short: 0,
    crowded: 0,
  })
  mkdirSync(join(folder, 'texts', 'more'), { recursive: true })
  writeFileSync(join(folder, 'texts', 'a.txt'), docs[1]!)
  writeFileSync(join(folder, 'texts', 'more', 'b.md'), `${docs[2]}\n`)
  expect(JSON.parse((await add(join(folder, 'texts'))).stdout)).toMatchObject({ added: 1, known: 1 })
  expect(JSON.parse((await add('-', `${JSON.stringify({ text: docs[3] })}\n`)).stdout)).toMatchObject({ added: 1 })
  expect(blocksOf(await ask([3, 0, 2]))).toBe('3')
  const counted = await startRunningReprise(['chunks', 'count', '--admin', proxy.adminUrl])
  expect(JSON.parse(counted.stdout)).toMatchObject({ chunks: 4, everyone: 4 })
  const broken = await add('-', `${JSON.stringify({ text: docs[4] })}\n{"txt": 1}\n`)
  expect([broken.status, broken.stderr.trim()]).toEqual([
    1,
    "error: stdin: line 2 has no text: its text has to be in 'text' (it has txt).",
  ])
})

test('chunks in front of a fault stay registered, and their number is said', async () => {
  const lines = Array.from({ length: 2_500 }, (_, n) => JSON.stringify({ text: `${docs[0]} It is number ${n}.` }))
  const cut = join(folder, 'cut.jsonl.gz')
  writeFileSync(cut, gzipSync(lines.join('\n')).subarray(0, -20))
  const { stderr } = await startRunningReprise(['chunks', 'add', cut, '--admin', proxy.adminUrl])
  expect(stderr).toMatch(
    /^error: .* cannot be read: unexpected end of file\. 2000 chunks before it are registered\.\n$/,
  )
})

test('reprise chunks says what is wrong with its arguments', () => {
  expect(runReprise(['chunks', 'add', join(folder, 'none.jsonl')])).toMatchObject({ status: 2 })
  const unreachable = runReprise(['chunks', 'count', '--admin', 'http://127.0.0.1:9'])
  expect(unreachable.status).toBe(1)
  expect(unreachable.stderr).toMatch(
    /^error: http:\/\/127\.0\.0\.1:9\/v1\/chunks does not answer .*admin listener\?\n$/,
  )
})
