import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import { startChatEngineDouble } from '#tools/compare/chat-engine-double.fixture.ts'
import type { Comparison, PassReport } from '#tools/compare/comparison.ts'
import { documents, smallTrace } from './gain-worlds.ts'
import { startRunningReprise } from './run-reprise-beside.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-compare-'))
})

afterEach(() => {
  rmSync(folder, { recursive: true })
})

/** Writes a trace of questions with their right answers, each about six of twelve documents in varying order. */
function writeTrace(count: number): string {
  const texts = documents(12)
  const blocks = texts.map((text, i) => JSON.stringify({ id: `d${i}`, text }))
  const queries = Array.from({ length: count }, (_, i) => {
    const ids = [0, 1, 2, 3, 4, 5].map((k) => `d${(i * 5 + k * (1 + (i % 3))) % 12}`)
    return JSON.stringify({
      query_id: i,
      query: `What of case ${i}?`,
      blocks: [...new Set(ids)],
      answers: ['the right one'],
    })
  })
  writeFileSync(join(folder, 'blocks.jsonl'), blocks.join('\n'))
  writeFileSync(join(folder, 'queries.jsonl'), queries.join('\n'))
  return folder
}

const passOf = ({ passes }: Comparison, name: string): PassReport => passes.find(({ pass }) => pass === name)!

function linesOf(file: string): { pass?: string; id?: string }[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { pass?: string; id?: string })
}

describe('on an engine that says the same to every prompt', () => {
  let emulator: Emulator

  beforeAll(async () => {
    const size = { capacityTokens: 400_000, prefillTokensPerSecond: 1e9 }
    emulator = await startEmulator({ host: '127.0.0.1', port: 0, kind: 'vllm', ...size })
  })

  afterAll(() => emulator.close())

  const compare = (...more: string[]): ReturnType<typeof startRunningReprise> =>
    startRunningReprise(['compare', writeTrace(12), '--engine', `${emulator.url},kind=vllm`, ...more])

  test('finds that nothing can be told from its answers, and what each way finds cached in a cache of its own', async () => {
    const [results, report] = ['results.jsonl', 'report.md'].map((name) => join(folder, name))
    const { status, stdout, stderr } = await compare('--json', '--results', results!, '--report', report!)
    expect([status, stderr]).toEqual([0, ''])
    const comparison = JSON.parse(stdout) as Comparison
    expect(comparison).toMatchObject({ requests: 12, caches_apart: true })
    expect(comparison.verdict).toBe('nothing was tested: the engine gives the same answer to all 12 requests')
    expect(comparison.passes.map(({ pass }) => pass)).toEqual([
      'received',
      'again',
      'rewritten',
      'order',
      'annotation',
      'dedup',
    ])
    for (const { agreement } of comparison.passes) expect(agreement.exact).toMatchObject({ mean: 1, low: 1, high: 1 })
    const [received, again, rewritten, dedup] = ['received', 'again', 'rewritten', 'dedup'].map((name) =>
      passOf(comparison, name),
    )
    expect(again!.cached_tokens).toBe(received!.cached_tokens)
    expect(dedup!).toMatchObject({ changed: 0, cached_tokens: received!.cached_tokens })
    expect(rewritten!.changed).toBeGreaterThan(5)
    expect(rewritten!.cached_tokens!).toBeGreaterThan(received!.cached_tokens! * 2)
    expect(readFileSync(report!, 'utf8')).toContain(`**${comparison.verdict}.**`)
  })

  test('goes on where it was broken off, and comes to the same', async () => {
    const results = join(folder, 'results.jsonl')
    const options = ['--json', '--passes', 'again,rewritten', '--results', results]
    const whole = JSON.parse((await compare(...options)).stdout) as Comparison
    const lines = readFileSync(results, 'utf8').split('\n')
    expect(linesOf(results)).toHaveLength(1 + 3 * 12)
    // cut off in the middle of a line of the last pass
    writeFileSync(results, `${lines.slice(0, 30).join('\n')}\n${lines[30]!.slice(0, 20)}`)
    const resumed = JSON.parse((await compare(...options)).stdout) as Comparison
    expect(resumed.passes.map(({ cached_tokens, changed }) => [cached_tokens, changed])).toEqual(
      whole.passes.map(({ cached_tokens, changed }) => [cached_tokens, changed]),
    )
    const other = await compare(...options, '--max-tokens', '5')
    expect([other.status, other.stderr]).toEqual([1, expect.stringContaining('--results')])
  })

  test('says in one line what is wrong', async () => {
    const dead = await startRunningReprise(['compare', writeTrace(1), '--engine', 'http://127.0.0.1:9,kind=vllm'])
    expect([dead.status, dead.stderr.trim().split('\n').length]).toEqual([1, 1])
    expect(dead.stderr).toContain('cannot be reached')
    const wrong = await compare('--passes', 'nonsense')
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('is none of')])
  })
})

/** Starts an engine double that answers wrongly whenever the prompt has an annotation about the original order. */
function startMisledEngineDouble(): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.method === 'GET') return outgoing.end(JSON.stringify({ data: [{ id: 'm' }] }))
    let body = ''
    incoming.on('data', (chunk) => {
      body += chunk
    })
    incoming.on('end', () => {
      const content = body.includes('Please read the context') ? 'nonsense' : 'The right one.'
      const chunk = { choices: [{ delta: { content }, logprobs: { content: [{ logprob: -0.5 }] } }] }
      const usage = { choices: [], usage: { prompt_tokens: 100 } }
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const data of [JSON.stringify(chunk), JSON.stringify(usage), '[DONE]']) outgoing.write(`data: ${data}\n\n`)
      outgoing.end()
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

test('an engine that is misled by what is rewritten is found out, and by what', async () => {
  const engine = await startMisledEngineDouble()
  const url = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`
  const results = join(folder, 'results.jsonl')
  const { stdout, status } = await startRunningReprise([
    'compare',
    writeTrace(20),
    '--engine',
    url,
    '--json',
    '--results',
    results,
  ])
  engine.close()
  expect(status).toBe(0)
  const comparison = JSON.parse(stdout) as Comparison
  expect(comparison.verdict).toMatch(/^worse by −0\.\d+ in 20 requests; 95 % interval/)
  expect(comparison.caches_apart).toBe(false)
  expect(passOf(comparison, 'again').gold).toMatchObject({
    f1: { mean: 1 },
    f1_difference: { mean: 0, low: 0, high: 0 },
  })
  expect(passOf(comparison, 'order').gold).toMatchObject({ f1: { mean: 1 } })
  expect(passOf(comparison, 'annotation').gold!.f1_difference.high).toBeLessThan(0)
  expect(passOf(comparison, 'rewritten')).toMatchObject({
    cached_tokens: null,
    log_probability_difference: { mean: 0 },
  })
})

test('what was recorded with texts is sent as its clients had sent it', async () => {
  const engine = await startChatEngineDouble()
  const bodies = smallTrace(8) as { messages: object[] }[]
  const record = { folder: join(folder, 'recorded'), text: true }
  const proxy = await startTestProxy({ url: engine.url, kind: 'openai' }, { record })
  for (const body of bodies) {
    await (await postJson(`${proxy.url}/v1/chat/completions`, { ...body, stream: true })).text()
  }
  await proxy.close()
  const recorded = engine.chats.splice(0)
  const [part] = readdirSync(record.folder)
  const { stdout, stderr } = await startRunningReprise([
    'compare',
    join(record.folder, part!),
    '--engine',
    engine.url,
    '--passes',
    'again,rewritten',
    '--results',
    join(folder, 'results.jsonl'),
    '--json',
  ])
  engine.close()
  expect(stderr).toBe('')
  const sent = engine.chats.map(({ messages }) => messages)
  const received = bodies.map(({ messages }) => messages)
  expect(sent.slice(0, 16)).toEqual([...received, ...received])
  // as the proxy that recorded them had rewritten them
  expect(sent.slice(16)).toEqual(recorded.map(({ messages }) => messages))
  expect(JSON.parse(stdout)).toMatchObject({ requests: 8, left_out: 0 })
})
