import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { readTrace } from '#tools/replay/trace/read-trace.ts'
import type { Trace } from '#tools/replay/trace/trace.ts'
import { metricOf } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { type Overrides, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let folder: string
let proxy: RunningProxy | undefined

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  folder = mkdtempSync(join(tmpdir(), 'reprise-record-'))
})

afterEach(async () => {
  await proxy?.close()
  await engine.close()
  proxy = undefined
  rmSync(folder, { recursive: true, force: true })
})

async function start(hasText: boolean, config: Overrides = {}): Promise<RunningProxy> {
  const record = { folder, text: hasText }
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm' }, { record, ...config })
  return proxy
}

/** Ends the proxy. Returns what it recorded, as the replay reads it and in lines, with those of the blocks. */
async function stop(): Promise<{ trace: Trace; lines: string[]; blockLines: string[] }> {
  await proxy!.close()
  proxy = undefined
  const part = join(folder, readdirSync(folder)[0]!)
  const linesOf = (file: string): string[] =>
    gunzipSync(readFileSync(join(part, file)))
      .toString()
      .trimEnd()
      .split('\n')
  return {
    trace: await readTrace(part),
    lines: linesOf('queries.jsonl.gz'),
    blockLines: linesOf('blocks.jsonl.gz'),
  }
}

const texts = ['whales', 'ships', 'harbours'].map((word) => `Much is known about ${word}. `.repeat(20).trim())
const chat = ragRequest('Which?', texts)

test.each(['off', 'shadow', 'on'] as const)('in mode %s, a request is recorded with its blocks', async (mode) => {
  // this kind gets no cache_salt
  const { url } = await start(true, { mode, engines: [{ url: engine.url, kind: 'openai', id: 'engine' }] })
  // unusual, so that it shows whether the body was serialized again
  const body = `\n${JSON.stringify(chat, null, 3)} `
  await postJson(`${url}/v1/chat/completions`, body)
  if (mode === 'off') expect(engine.requests.at(-1)!.body.toString()).toBe(body)
  const { trace } = await stop()
  const [request] = trace.requests
  expect(request!.blocks.map(({ text }) => text)).toEqual(texts)
  const { front, rest } = request!.around!
  expect(front.map(({ text }) => text).join('')).toContain('Answer from the documents.')
  expect(rest.map(({ text }) => text).join('')).toContain('Which?')
})

test('in mode off, tokens are estimated where the engine reports none', async () => {
  engine.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  const { url } = await start(false, { mode: 'off' })
  await postJson(`${url}/v1/chat/completions`, chat)
  const { trace } = await stop()
  const [request] = trace.requests
  for (const [i, { tokens }] of request!.blocks.entries()) {
    expect(tokens).toBeGreaterThan(texts[i]!.length / 8)
    expect(tokens).toBeLessThan(texts[i]!.length / 2)
  }
})

test.each([
  ['/v1/chat/completions', chat],
  ['/v1/completions', { model: 'm', prompt: 'Once upon a time' }],
  ['/v1/responses', { model: 'm', input: 'Once upon a time' }],
  ['/v1/messages', { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Once upon a time' }] }],
  ['/generate', { text: 'Once upon a time', sampling_params: { max_new_tokens: 5 } }],
])('with texts, a request to %s is recorded as the client sent it', async (path, fields) => {
  const { url } = await start(true)
  // a number that JSON.parse does not keep
  const body = `\uFEFF${JSON.stringify({ ...fields, note: 'two\nlines' }, null, 2).slice(0, -2)},\r\n"seed": 12345678901234567890}`
  await postJson(`${url}${path}`, body)
  const { trace, lines } = await stop()
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"seed": 12345678901234567890')
  expect(trace.requests[0]).toMatchObject({ route: path, request: { path, body: { ...fields, note: 'two\nlines' } } })
})

test('without texts, and of a list of prompts, no body is recorded', async () => {
  const { url } = await start(false)
  await postJson(`${url}/v1/chat/completions`, chat)
  const { trace, lines } = await stop()
  expect(lines[0]).not.toMatch(/request"|Which/)
  expect(trace.requests[0]!.route).toBe('/v1/chat/completions')
  rmSync(folder, { recursive: true })
  const other = await start(true)
  await postJson(`${other.url}/v1/completions`, { model: 'm', prompt: ['One.', 'Two.'] })
  const list = await stop()
  expect(list.trace.requests.map(({ queryId, request }) => [queryId, request])).toEqual([
    ['0/0', undefined],
    ['0/1', undefined],
  ])
})

test('of what marks blocks, digests are recorded, which another start does not repeat', async () => {
  const record = async (hasText: boolean): Promise<Awaited<ReturnType<typeof stop>>> => {
    const { url } = await start(hasText)
    await postJson(`${url}/v1/chat/completions`, chat)
    const stopped = await stop()
    rmSync(folder, { recursive: true })
    return stopped
  }
  const [hashed, again, plain] = [await record(false), await record(false), await record(true)]
  const written = (of: typeof hashed): string => [...of.lines, ...of.blockLines].join('\n')
  const idsIn = (of: typeof hashed): string[] => written(of).match(/(?<=")[\w-]{22}(?=")/g)!
  expect(idsIn(hashed).filter((id) => idsIn(again).includes(id))).toEqual([])
  expect(written(hashed)).not.toMatch(/<|document|index=|whales|Which|"text"/)
  expect(hashed.trace.requests[0]!.list).toMatchObject({ orderTokens: expect.any(Number), stays: false })
  const { list } = plain.trace.requests[0]!
  const block = list!.blocks[1]!.map((piece) => piece?.text ?? list!.labels[1]!.text).join('')
  expect(block).toBe(`<document index="2">\n${texts[1]}\n</document>`)
})

test('a request that wants its order left is marked, and no other', async () => {
  const { url } = await start(false)
  await postJson(`${url}/v1/chat/completions`, chat, { headers: { 'x-reprise-options': 'reorder=off' } })
  await postJson(`${url}/v1/chat/completions`, { ...chat, reprise: { options: { reorder: false } } })
  await postJson(`${url}/v1/chat/completions`, chat, { headers: { 'x-reprise-options': 'reorder=on' } })
  const { trace, lines } = await stop()
  expect(trace.requests.map(({ reorder }) => reorder)).toEqual([false, false, undefined])
  expect(lines[2]).not.toContain('reorder')
})

test('recorded and lost requests are counted', async () => {
  const { url, adminUrl } = await start(false)
  const send = (): Promise<Response> => postJson(`${url}/v1/chat/completions`, chat)
  expect(await metricOf(adminUrl, 'reprise_recorded_requests_total')).toBe(0)
  await send()
  await vi.waitFor(async () => expect(await metricOf(adminUrl, 'reprise_recorded_requests_total')).toBe(1), 5_000)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, '')
  await send()
  await vi.waitFor(async () => expect(await metricOf(adminUrl, 'reprise_record_lost_requests_total')).toBe(1), 5_000)
  rmSync(folder)
  await send()
  await vi.waitFor(async () => expect(await metricOf(adminUrl, 'reprise_recorded_requests_total')).toBe(2), 5_000)
})
