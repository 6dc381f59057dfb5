import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { Mode } from '#proxy/common/request-options.ts'
import { defaultConfig } from '#proxy/config/sources/config-source.ts'
import type { BatchSummary } from '../tools/batch/batch-summary.ts'
import { type BatchOptions, runBatch } from '../tools/batch/run-batch.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { startRunningReprise } from './run-reprise-beside.ts'
import { ragRequest, startTestProxy } from './start-test-proxy.ts'

const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')
/** Each run of the command starts a process, which takes long on a busy machine. */
vi.setConfig({ testTimeout: 240_000 })

const closing: (() => Promise<void>)[] = []
let folder: string
let batch: string
let out: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-batch-'))
  batch = join(folder, 'batch.jsonl')
  out = join(folder, 'batch.results.jsonl')
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  rmSync(folder, { recursive: true })
})

interface Result {
  readonly id: string
  readonly custom_id: string | null
  readonly response: { readonly status_code: number; readonly request_id: string | null; readonly body: Json } | null
  readonly error: { readonly code: string; readonly message: string; readonly line?: number } | null
}
type Json = Record<string, unknown>

const bird = (name: number): string =>
  `${'kestrel lapwing bittern dunlin gannet siskin wryneck'.split(' ')[name % 10]}-${'abcd'[Math.floor(name / 10)]}`
const text = (name: number): string =>
  `The ${bird(name)} nests ${'on cliffs and in the towers of old churches, '.repeat(9)}and sings.`
/** A name without digits, which may be taken for numbers of documents. */
const letters = (i: number): string => [...String(i)].map((digit) => 'ABCDEFGHIJ'[Number(digit)]).join('')
/** The birds of question i: those of one topic come in another order each time. */
const birds = (i: number): number[] => {
  const own = Array.from({ length: 6 }, (_, k) => 10 * (i % 4) + ((k * (1 + (i % 5)) + i) % 7))
  return [...new Set(own)]
}

function writeBatch(count: number, rest: Json = { max_tokens: 16 }): string[] {
  const ids = Array.from({ length: count }, (_, i) => `question-${letters(i)}`)
  const lines = ids.map((id, i) => toLine(id, ragRequest(`What of case ${letters(i)}?`, birds(i).map(text), rest)))
  writeFileSync(batch, `${lines.join('\n')}\n`)
  return ids
}

function toLine(id: string, body: unknown, url = '/v1/chat/completions'): string {
  return JSON.stringify({ custom_id: id, method: 'POST', url, body })
}

function results(): Result[] {
  return readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
}

async function emulate(
  options: Partial<typeof emulatorDefaults> & { prefillTokensPerSecond?: number } = {},
): Promise<string> {
  const emulator = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, ...options })
  closing.push(() => emulator.close())
  return emulator.url
}

async function double(): Promise<RecordingEngineDouble> {
  const engine = await startRecordingEngineDouble()
  closing.push(() => engine.close())
  return engine
}

async function run(...args: string[]): Promise<{ status: number | null; stderr: string; summary: BatchSummary }> {
  const { status, stdout, stderr } = await startRunningReprise(['batch', batch, '--json', ...args])
  return { status, stderr, summary: (stdout === '' ? {} : JSON.parse(stdout)) as BatchSummary }
}

/** Sends a batch straight to a double, without waiting for it. */
async function runAt({ url }: { url: string }, options: Partial<BatchOptions> = {}): Promise<BatchSummary> {
  const target = { url, name: url, key: undefined, priority: 10, isSet: false }
  const [config, signal] = [defaultConfig(), new AbortController().signal]
  return runBatch(batch, { target, config, out, concurrency: 4, signal, wait: async () => {}, ...options })
}

/** Does the same behind a proxy in this process, which takes less than the command, and does what it does. */
async function runBehind(
  engine: Parameters<typeof startTestProxy>[0],
  options: Partial<BatchOptions> = {},
  mode: Mode = 'on',
): Promise<BatchSummary> {
  const proxy = await startTestProxy(engine, { mode })
  closing.push(() => proxy.close())
  return runAt(proxy, options)
}

describe('a batch in front of an engine', () => {
  test('has a result for every request, as OpenAI writes them, and finds more cached than in the order of the file', async () => {
    const ids = writeBatch(40)
    const asReceived = await runBehind({ url: await emulate(), kind: 'vllm' }, { concurrency: 1 }, 'off')
    rmSync(out)
    const { status, summary } = await run('--engine', `${await emulate()},kind=vllm`, '--concurrency', '1')
    expect(status).toBe(0)
    expect(summary).toMatchObject({ requests: 40, answered: 40, failed: 0, invalid: 0, resumed: 0, out })
    expect(summary.moved).toBeGreaterThan(20)
    expect(summary.hit_ratio).toBeCloseTo(summary.cached_tokens! / summary.prompt_tokens!)
    expect(summary.hit_ratio!).toBeGreaterThan(2 * asReceived.hit_ratio!)
    expect(
      results()
        .map(({ custom_id: id }) => id)
        .toSorted(),
    ).toEqual(ids.toSorted())
    for (const { id, response, error } of results()) {
      expect({ id, error }).toEqual({ id: expect.stringMatching(/^batch_req_/), error: null })
      expect(response).toMatchObject({ status_code: 200, request_id: expect.any(String) })
      expect(response!.body).toMatchObject({ object: 'chat.completion', choices: [{ message: { role: 'assistant' } }] })
    }
    expect(statSync(out).mode & 0o777).toBe(0o600)
  })

  test('runs in the order of reprise plan, with its blocks in that order', async () => {
    writeBatch(30)
    const blocks = [...new Set(Array.from({ length: 30 }, (_, i) => birds(i)).flat())]
    const queries = Array.from({ length: 30 }, (_, i) => ({
      query_id: `question-${letters(i)}`,
      blocks: birds(i).map(bird),
    }))
    const write = (name: string, lines: object[]): void =>
      writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    write('queries.jsonl', queries)
    write(
      'blocks.jsonl',
      blocks.map((name) => ({ id: bird(name), text: text(name) })),
    )
    const planned = await startRunningReprise(['plan', folder])
    const engine = await double()
    expect(await runBehind(engine, { concurrency: 1 })).toMatchObject({ failed: 0, invalid: 0 })
    const sent = engine.requests.map(({ body }) => {
      const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] }
      const { content } = messages[1]!
      return [/What of case (\w+)/.exec(content)![1], [...content.matchAll(/The (\S+) nests/g)].map(([, name]) => name)]
    })
    const lines = planned.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { query_id: string; blocks: string[] })
    expect(sent).toEqual(lines.map(({ query_id: id, blocks: order }) => [id.replace('question-', ''), order]))
    const annotated = engine.requests.filter(({ body }) =>
      body.toString().includes('in the following priority order: ['),
    )
    expect(annotated.length).toBeGreaterThan(15)
  })

  test('requests without lists, and those of other APIs, are sent as they are written', async () => {
    const bodies = ['{"model":"m","prompt":"Once","seed":12345678901234567890}', '{"input":["a", "b"]  ,"model":"e"}']
    const lines = ['/v1/completions', '/v1/embeddings?x=1'].map(
      (url, i) => `{"custom_id":"${i}","method":"POST","url":"${url}","body":${bodies[i]}}`,
    )
    writeFileSync(batch, lines.join('\n'))
    const engine = await double()
    expect(await runBehind(engine, { concurrency: 1 })).toMatchObject({ failed: 0, invalid: 0 })
    expect(engine.requests.map(({ url }) => url).toSorted()).toEqual(['/v1/completions', '/v1/embeddings?x=1'])
    expect(engine.requests.map(({ body }) => body.toString()).toSorted()).toEqual(bodies.toSorted())
  })

  test('an answer is kept as it was written, whatever it is', async () => {
    writeFileSync(
      batch,
      ['pretty', 'text'].map((id) => toLine(id, { model: 'm', prompt: id }, '/v1/completions')).join('\n'),
    )
    const engine = await double()
    engine.answer((response, { body }) => {
      const answer = body.includes('pretty') ? '{\n  "n": 12345678901234567890,\r\n "t": "a\\nb"\n}\n' : '{"t": 1}'
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
    await runBehind(engine)
    const [line] = readFileSync(out, 'utf8')
      .split('\n')
      .filter((own) => own.includes('"pretty"'))
    expect(line).toContain('"body":{   "n": 12345678901234567890,  "t": "a\\nb" }}')
  })
})

describe('settings', () => {
  const settings = (): string => join(folder, 'reprise.yaml')

  test('may name the engines and the mode; the flag counts more', async () => {
    writeBatch(12)
    const engine = await double()
    writeFileSync(settings(), `engines:\n  - url: ${engine.url}\nmode: off\n`)
    expect((await run('--config', settings())).summary).toMatchObject({ answered: 12, moved: 0 })
    rmSync(out)
    const { summary } = await run('--config', settings(), '--mode', 'on')
    expect(summary.answered).toBe(12)
    expect(summary.moved).toBeGreaterThan(4)
  })
})

describe('a batch through a running proxy', () => {
  test('sends its orders, its key and its priority; the proxy annotates and counts', async () => {
    writeBatch(20)
    const engine = await double()
    const proxy = await startTestProxy({ url: engine.url })
    closing.push(() => proxy.close())
    const { status, summary } = await run('--proxy', `${proxy.url}/v1`)
    expect({ status, summary }).toMatchObject({ status: 0, summary: { answered: 20 } })
    expect(summary.moved).toBeGreaterThan(8)
  })

  test('that may not move what it finds says so, and may once the batch states that order means nothing', async () => {
    writeBatch(20)
    const engine = await double()
    const proxy = await startTestProxy({ url: engine.url }, { mode: 'ask' })
    closing.push(() => proxy.close())
    expect(await runAt(proxy)).toMatchObject({ moved: 0, skipped: { not_permitted: 20 } })
    // others: those that were sent as received go so again
    writeFileSync(batch, readFileSync(batch, 'utf8').replaceAll('What of case', 'And what of case'))
    rmSync(out)
    expect((await run('--proxy', proxy.url, '--set')).summary.moved).toBeGreaterThan(8)
  })

  test('its requests have the headers of a client', async () => {
    writeBatch(2)
    const engine = await double()
    const key = { name: 'engine', url: `${engine.url}/v1/`, key: 'secret', priority: 7, isSet: true }
    await runAt(engine, { target: key })
    for (const { url, headers } of engine.requests) {
      expect({ url, ...headers }).toMatchObject({
        url: '/v1/chat/completions',
        authorization: 'Bearer secret',
        'x-reprise-priority': '7',
        'x-reprise-options': expect.stringMatching(/^set,order=\d+(\.\d+)+$/),
      })
    }
  })
})

describe('a run that was cut off', () => {
  test('goes on from its results: each request has one, and none that is there is sent again', async () => {
    const ids = writeBatch(60)
    const engine = await double()
    engine.answer((response) => void pause(40).then(() => response.writeHead(200).end('{"choices":[]}')))
    const child = spawn(process.execPath, [reprise, 'batch', batch, '--engine', engine.url, '--concurrency', '3'], {
      stdio: 'ignore',
    })
    while (!existsSync(out) || readFileSync(out, 'utf8').split('\n').length < 12) await pause(20)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const whole = readFileSync(out, 'utf8')
    const kept = whole.trimEnd().split('\n').length
    // as if it had been killed while it wrote
    appendFileSync(out, '{"id":"batch_req_x","custom_id":"question-F","resp')
    const before = engine.requests.length
    const { status, summary } = await run('--engine', engine.url, '--concurrency', '3')
    expect({ status, summary }).toMatchObject({ status: 0, summary: { requests: 60, answered: 60, resumed: kept } })
    expect(engine.requests.length - before).toBe(60 - kept)
    expect(
      results()
        .map(({ custom_id: id }) => id!)
        .toSorted(),
    ).toEqual(ids.toSorted())
    expect(readFileSync(out, 'utf8').startsWith(whole)).toBe(true)
  })

  test('by a signal says where the results are', async () => {
    writeBatch(10)
    const engine = await double()
    engine.answer(() => {})
    const child = spawn(process.execPath, [reprise, 'batch', batch, '--engine', engine.url], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.on('data', (chunk) => (stderr += chunk))
    while (engine.requests.length < 10) await pause(20)
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([1, null])
    expect(stderr).toMatch(/error: broken off: the results so far are in .*the same command goes on from there/)
  })

  test('and whose results are of another batch is refused; what was refused may be mended', async () => {
    writeBatch(3)
    const engine = await double()
    await runAt(engine)
    writeBatch(3, { max_tokens: 17 })
    await expect(runAt(engine)).rejects.toThrow(/does not have the results of this batch .*another with --out/)
    rmSync(out)
    engine.answer((response) => response.writeHead(400).end('{"error":{"message":"max_tokens"}}'))
    expect(await runAt(engine)).toMatchObject({ failed: 3, answered: 0 })
    writeBatch(3)
    engine.answer((response) => response.writeHead(200).end('{}'))
    expect(await runAt(engine)).toMatchObject({ failed: 0, answered: 3, resumed: 0 })
    writeFileSync(out, 'a diary\nof mine\n')
    await expect(runAt(engine)).rejects.toThrow(/does not have the results/)
    expect(readFileSync(out, 'utf8')).toBe('a diary\nof mine\n')
  })
})

describe('the file of results', () => {
  test('may be behind a link, which stays; a folder is refused, and what another run writes to', async () => {
    writeBatch(2)
    const engine = await double()
    const [link, target] = [join(folder, 'link'), join(folder, 'target')]
    writeFileSync(target, '')
    symlinkSync(target, link)
    for (const resumed of [0, 2]) expect(await runAt(engine, { out: link })).toMatchObject({ answered: 2, resumed })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8').trimEnd().split('\n')).toHaveLength(2)
    expect(existsSync(`${target}.lock`)).toBe(false)
    await expect(runAt(engine, { out: folder })).rejects.toThrow(/name a file with --out/)
    writeFileSync(`${out}.lock`, String(process.ppid))
    await expect(runAt(engine)).rejects.toThrow(/another run/)
    expect(existsSync(out)).toBe(false)
  })

  test('has what was refused for its body; the summary counts that as failed, not as answered before', async () => {
    writeBatch(2)
    const engine = await double()
    engine.answer((response) => response.writeHead(400).end('{}'))
    for (const _ of [1, 2]) expect(await runAt(engine)).toMatchObject({ answered: 0, failed: 2, resumed: 0 })
    expect(engine.requests).toHaveLength(2)
  })
})

describe('an engine that is busy', () => {
  test('is asked again, after as long as it says', async () => {
    writeBatch(3)
    const engine = await double()
    const waits: number[] = []
    engine.answer((response) => {
      const at = engine.requests.length
      if (at === 1) response.writeHead(429, { 'retry-after': '7' }).end('{}')
      else if (at === 2) response.writeHead(500).end('{}')
      else if (at === 3) response.destroy()
      else response.writeHead(200).end('{}')
    })
    const wait = async (milliseconds: number): Promise<void> => void waits.push(milliseconds)
    expect(await runAt(engine, { concurrency: 1, wait })).toMatchObject({ answered: 3, failed: 0 })
    expect(waits).toEqual([7_000, 1_000, 2_000])
    expect(engine.requests).toHaveLength(6)
  })

  test('with one request alone fails that one, which the same command sends again', async () => {
    const ids = writeBatch(5)
    const engine = await double()
    let isMended = false
    engine.answer((response, { body }) => {
      const isHard = body.includes('What of case D?') && !isMended
      response.writeHead(isHard ? 500 : 200).end(isHard ? '{"error":"too hard"}' : '{}')
    })
    expect(await runAt(engine)).toMatchObject({ answered: 4, failed: 1 })
    const failed = results().find(({ custom_id: id }) => id === 'question-D')
    expect(failed).toMatchObject({ response: { status_code: 500, body: { error: 'too hard' } }, error: null })
    isMended = true
    expect(await runAt(engine)).toMatchObject({ answered: 5, failed: 0, resumed: 4 })
    expect(
      results()
        .map(({ custom_id: id }) => id!)
        .toSorted(),
    ).toEqual(ids.toSorted())
  })

  test.each(['<html>a page</html>\n', '', '1'])(
    'and says %j with status 200 is asked again, and has then not answered',
    async (said) => {
      writeBatch(3)
      const engine = await double()
      let times = 0
      engine.answer((response, { body }) => {
        const isWrong = body.includes('What of case B?') || (body.includes('What of case C?') && times++ === 0)
        response.writeHead(200).end(isWrong ? said : '{}')
      })
      expect(await runAt(engine)).toMatchObject({ answered: 2, failed: 1 })
      expect(results().find(({ custom_id: id }) => id === 'question-B')).toMatchObject({
        response: null,
        error: { code: 'no_json_object', message: expect.stringMatching(/^status 200, but no JSON object/) },
      })
      // as SGLang answers several texts
      engine.answer((response) => response.writeHead(200).end('[{}]'))
      expect(await runAt(engine)).toMatchObject({ answered: 3, failed: 0, resumed: 2 })
    },
  )

  test('and refuses the key is asked again by the next run', async () => {
    writeBatch(3)
    const engine = await double()
    engine.answer((response) => response.writeHead(401).end('{}'))
    expect(await runAt(engine)).toMatchObject({ answered: 0, failed: 3 })
    expect(engine.requests).toHaveLength(3)
    engine.answer((response) => response.writeHead(200).end('{}'))
    expect(await runAt(engine)).toMatchObject({ answered: 3, failed: 0, resumed: 0 })
    expect(results()).toHaveLength(3)
  })

  test('and does not know a model of some requests goes on with the others', async () => {
    writeBatch(30)
    const engine = await double()
    engine.answer((response, { body }) =>
      body.includes('What of case CJ?') ? response.writeHead(200).end('{}') : response.writeHead(404).end('{}'),
    )
    expect(await runAt(engine, { concurrency: 1 })).toMatchObject({ answered: 1, failed: 29 })
  })

  test('and ends the run is quoted', async () => {
    writeBatch(30)
    const engine = await double()
    engine.answer((response) => response.writeHead(401).end('{"error":{"message":"a key\\nof another"}}'))
    await expect(runAt(engine)).rejects.toThrow(/20 requests in a row failed \(status 401: a key of another\)/)
  })

  test('and that nothing listens for ends the run after some seconds', async () => {
    const waits: number[] = []
    writeBatch(30)
    const engine = await double()
    await engine.close()
    await expect(
      runAt(engine, { concurrency: 1, wait: async (milliseconds) => void waits.push(milliseconds) }),
    ).rejects.toThrow(`${engine.url} cannot be reached (connect ECONNREFUSED`)
    expect(waits).toEqual([500, 1_000, 2_000, 4_000])
    expect(readFileSync(out, 'utf8')).toBe('')
  })

  test('and that nothing listens for behind a proxy ends the run as soon', async () => {
    const waits: number[] = []
    writeBatch(30)
    const engine = await double()
    await engine.close()
    const wait = async (milliseconds: number): Promise<void> => void waits.push(milliseconds)
    const ended = runBehind(engine, { concurrency: 1, wait })
    await expect(ended).rejects.toThrow(/cannot be reached \(The engine did not answer \(ECONNREFUSED\).*is it running/)
    expect(waits).toEqual([500, 1_000, 2_000, 4_000])
    expect(readFileSync(out, 'utf8')).toBe('')
  })

  test('and breaks every connection ends the run, which loses nothing', async () => {
    const ids = writeBatch(30)
    const engine = await double()
    engine.answer((response) => response.destroy())
    await expect(runAt(engine)).rejects.toThrow(/20 requests in a row failed \(.*goes on from there/)
    const other = await double()
    expect(await runAt(other)).toMatchObject({ answered: 30, failed: 0 })
    expect(
      results()
        .map(({ custom_id: id }) => id!)
        .toSorted(),
    ).toEqual(ids.toSorted())
  })
})

test('bad lines are reported in the results, again by each run, and lose no other request', async () => {
  const bad = ['{"custom_id":', '{"custom_id":"x","method":"GET","url":"/v1/completions","body":{}}']
  const good = toLine('good', ragRequest('q', ['a', 'b']))
  writeFileSync(batch, [bad[0], good, bad[1], good].join('\n'))
  const engine = await double()
  for (const resumed of [0, 1]) {
    const { status, summary } = await run('--engine', engine.url)
    expect({ status, summary }).toMatchObject({ status: 1, summary: { requests: 4, answered: 1, invalid: 3, resumed } })
    expect(results()).toHaveLength(4)
    expect(results().filter(({ error }) => error)).toMatchObject(
      [
        { custom_id: null, response: null, error: { code: 'invalid_json_line', line: 1, message: /line 1/ } },
        { custom_id: 'x', response: null, error: { code: 'invalid_request', line: 3 } },
        { custom_id: 'good', response: null, error: { code: 'duplicate_custom_id', line: 4 } },
      ].map((own) => ({ ...own, error: { ...own.error, message: expect.stringContaining(`line ${own.error.line}`) } })),
    )
  }
  expect(engine.requests).toHaveLength(1)
})

test.each([
  [[], /either engines with --engine or --config, or a running proxy with --proxy/],
  [['--engine', 'http://x', '--proxy', 'http://y'], /either engines/],
  [['--proxy', 'http://127.0.0.1:1', '--out', 'BATCH'], /the batch is read from it/],
  [['--proxy', 'y'], /'y' is not a URL/],
  [['--proxy', 'http://127.0.0.1:1', '--concurrency', '0'], /whole number of at least 1/],
])('%j is wrong usage, and says so in one line', async (args, message) => {
  writeBatch(1)
  const { status, stderr } = await run(...args.map((one) => one.replace('BATCH', batch)))
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(message) })
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})
