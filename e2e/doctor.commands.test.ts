import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { DoctorReport, Finding } from '#tools/doctor/finding.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { examine, find, levelsOf } from './examine-engine.ts'
import { keysIn } from './keys-file.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { startTestProxy } from './start-test-proxy.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

async function emulate(kind: 'vllm' | 'sglang'): Promise<string> {
  const { sglangBlockSize, ...options } = { ...emulatorDefaults, kind, host: '127.0.0.1', port: 0 }
  const emulator = await startEmulator({ ...options, blockSize: kind === 'vllm' ? options.blockSize : sglangBlockSize })
  closers.push(() => emulator.close())
  return emulator.url
}

type Json = Record<string, unknown>

interface DoubleOptions {
  /** bodies of GET answers by path; all other paths are 404 */
  pages?: Record<string, unknown>
  /** returns the status and body for a completion */
  complete?: (body: Json) => [number, Json]
  /** answers every request itself */
  respond?: (response: ServerResponse) => void
}

const models = { object: 'list', data: [{ id: 'm', owned_by: 'vllm', max_model_len: 8192 }] }
const usageOf = (cached: number | undefined): Json => ({
  usage: { prompt_tokens: 500, ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }) },
})

/** Stands in for engines not otherwise available: badly configured, of another make, or broken. */
async function startDouble(options: DoubleOptions): Promise<RecordingEngineDouble> {
  const double = await startRecordingEngineDouble(0, true)
  closers.push(() => double.close())
  const pages: Record<string, unknown> = { '/v1/models': models, '/version': { version: '0.32.0' }, ...options.pages }
  const send = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  double.answer((response, { method, url, body }) => {
    if (options.respond) options.respond(response)
    else if (method === 'GET') send(response, url in pages ? 200 : 404, pages[url] ?? {})
    else if (url !== '/v1/chat/completions') send(response, 404, {})
    else send(response, ...(options.complete ?? (() => [200, usageOf(0)] as [number, Json]))(JSON.parse(String(body))))
  })
  return double
}

/** Answers like an engine whose cache holds whole prompts under the key `keyOf`. */
function remember(keyOf: (body: Json) => string, cached = 496): (body: Json) => [number, Json] {
  const seen = new Set<string>()
  return (body) => {
    const key = keyOf(body)
    const hit = seen.has(key)
    seen.add(key)
    return [200, usageOf(hit ? cached : 0)]
  }
}

describe('an engine that works', () => {
  test.each(['vllm', 'sglang'] as const)('has nothing to mend: %s', async (kind) => {
    const report = await examine(`${await emulate(kind)},kind=${kind}`)
    expect(report).toMatchObject({ kind, fatal: 0, warnings: 0 })
    expect(levelsOf(report)).toEqual({
      engine: 'ok',
      kind: 'ok',
      model: 'ok',
      context_length: 'ok',
      cached_tokens: 'ok',
      prefix_caching: 'ok',
      cache_salt: 'ok',
      page_size: 'ok',
      blocks: 'ok',
      mirror: 'not_checked',
    })
    expect(find(report, 'page_size').found).toMatch(kind === 'vllm' ? /^16 tokens/ : /^1 token,/)
  })

  test('may be given with /v1, and is the same the second time: no probe is found in the cache of the last run', async () => {
    const url = await emulate('vllm')
    await examine(`${url},kind=vllm`)
    const report = await examine(`${url}/v1/,kind=vllm`)
    expect(report).toMatchObject({ fatal: 0, warnings: 0 })
  })

  test('is told apart from the kind that was given', async () => {
    const url = await emulate('sglang')
    const wrong = await examine(`${url},kind=vllm`)
    expect(find(wrong, 'kind')).toMatchObject({ level: 'fatal', fix: expect.stringContaining('kind=sglang') })
    const missing = await examine(url)
    expect(find(missing, 'kind')).toMatchObject({ level: 'warning', fix: expect.stringContaining('kind=sglang') })
    // no check of the salt, because without a kind the proxy adds none
    expect(levelsOf(missing)).not.toHaveProperty('cache_salt')
  })
})

test.each([true, false])(
  'a proxy is told from an engine, whether its answers have headers of its own (%s) or not',
  async (headers) => {
    const engine = await emulate('vllm')
    expect(levelsOf(await examine(`${engine},kind=vllm`)).engine).toBe('ok')
    const proxy = await startTestProxy({ url: engine, kind: 'vllm', id: 'gpu-0' }, { headers })
    closers.push(() => proxy.close())
    const { findings } = await examine(`${proxy.url},kind=vllm`)
    expect(findings).toContainEqual({
      check: 'engine',
      level: 'warning',
      found: expect.stringContaining('that of a reprise proxy'),
      fix: "give the engine's own URL",
    })
  },
)

describe('an engine that is badly configured', () => {
  test('cached tokens that are not reported are a warning with the flag to set', async () => {
    const { url, requests } = await startDouble({ complete: () => [200, usageOf(undefined)] })
    const report = await examine(`${url},kind=vllm`)
    expect(find(report, 'cached_tokens')).toMatchObject({
      level: 'warning',
      fix: expect.stringContaining('--enable-prompt-tokens-details'),
    })
    expect(report.fatal).toBe(0)
    // the greeting, the prompt, two repeats, and the prompt with another salt
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(5)
  })

  test('prefix caching that is off is fatal, by the counts and by the metrics', async () => {
    const byCounts = await startDouble({})
    expect(find(await examine(`${byCounts.url},kind=vllm`), 'prefix_caching')).toMatchObject({
      level: 'fatal',
      fix: expect.stringContaining('--no-enable-prefix-caching'),
    })
    const metrics = 'vllm:cache_config_info{block_size="16",enable_prefix_caching="False",num_gpu_blocks="9"} 1.0\n'
    const byMetrics = await startDouble({ pages: { '/metrics': metrics }, complete: () => [200, usageOf(undefined)] })
    expect(find(await examine(`${byMetrics.url},kind=vllm`), 'prefix_caching')).toMatchObject({ level: 'fatal' })
    const info = { version: '0.5.23', page_size: 1, disable_radix_cache: true, enable_cache_report: true }
    const bySglang = await startDouble({ pages: { '/server_info': info }, complete: () => [200, usageOf(undefined)] })
    expect(find(await examine(`${bySglang.url},kind=sglang`), 'prefix_caching')).toMatchObject({
      level: 'fatal',
      fix: expect.stringContaining('--disable-radix-cache'),
    })
  })

  test('a cache that ignores salts is a warning', async () => {
    const { url } = await startDouble({ complete: remember(({ messages }) => JSON.stringify(messages)) })
    const report = await examine(`${url},kind=vllm`)
    expect(find(report, 'prefix_caching').level).toBe('ok')
    expect(find(report, 'cache_salt')).toMatchObject({ level: 'warning', found: expect.stringContaining('ignored') })
  })

  test('two replicas behind one URL are noticed', async () => {
    let calls = 0
    const { url } = await startDouble({
      complete: remember(({ messages, cache_salt }) => `${calls++ % 2} ${JSON.stringify([messages, cache_salt])}`),
    })
    expect(find(await examine(`${url},kind=vllm`), 'prefix_caching')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('2 replicas'),
    })
  })

  test('a provider that refuses cache_salt is to be served as kind=openai', async () => {
    const pages = { '/v1/models': { data: [{ id: 'gpt', owned_by: 'someone' }] }, '/version': {} }
    const complete = ({ cache_salt }: Json): [number, Json] =>
      cache_salt === undefined ? [200, usageOf(0)] : [400, { error: { message: 'Unrecognized argument: cache_salt' } }]
    const { url } = await startDouble({ pages, complete })
    const report = await examine(`${url},kind=vllm`)
    expect(find(report, 'kind').level).toBe('warning')
    expect(find(report, 'prefix_caching')).toMatchObject({
      level: 'fatal',
      fix: expect.stringContaining('kind=openai'),
    })
    expect((await examine(url)).fatal).toBe(0)
  })

  test('a model without a chat template is asked for completions', async () => {
    const double = await startDouble({})
    const completed = remember(({ prompt, cache_salt }) => JSON.stringify([prompt, cache_salt]))
    double.answer((response, { method, url, body }) => {
      const chat: [number, Json] = [400, { message: 'no default chat template is allowed' }]
      const [status, answer] =
        method === 'GET' ? [200, models] : url === '/v1/completions' ? completed(JSON.parse(String(body))) : chat
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
    expect(find(await examine(`${double.url},kind=vllm`), 'prefix_caching').level).toBe('ok')
  })

  test('a model that is not served is fatal, and those that are are named', async () => {
    const { url } = await startDouble({})
    expect(find(await examine(`${url},kind=vllm`, { model: 'x' }), 'model')).toMatchObject({
      level: 'fatal',
      fix: expect.stringContaining('choose of m'),
    })
    const empty = await startDouble({ pages: { '/v1/models': { data: [] } } })
    expect(find(await examine(empty.url), 'model')).toMatchObject({ level: 'fatal', found: 'no model is served' })
  })

  test('a page of a small context is no larger than the model can read', async () => {
    const small = { data: [{ id: 'm', owned_by: 'vllm', max_model_len: 300 }] }
    const { url, requests } = await startDouble({ pages: { '/v1/models': small } })
    const report = await examine(`${url},kind=vllm`)
    expect(find(report, 'context_length').level).toBe('warning')
    const { messages } = JSON.parse(String(requests.at(-1)!.body)) as { messages: [{ content: string }] }
    expect(messages[0].content.split(' ').length).toBeLessThan(120)
  })
})

test('a prompt that fills no block of the cache is told from one that does, by the tokens that the engine counts', async () => {
  const url = await emulate('vllm')
  const ask = async (content: string) => {
    const json = JSON.stringify({ model: 'mine', messages: [{ role: 'user', content }] })
    return examine(`${url},kind=vllm`, { prompt: { file: 'own.json', json } })
  }
  expect(find(await ask('Hi'), 'prompt_length')).toMatchObject({
    level: 'warning',
    found: expect.stringMatching(/^own\.json: its \d+ tokens fill no block of the engine's cache \(16\)/),
    fix: expect.stringContaining('--block-size'),
  })
  expect(levelsOf(await ask('to and fro, '.repeat(40)))).not.toHaveProperty('prompt_length')
})

describe('what is no engine', () => {
  test('a port where nothing listens', async () => {
    const double = await startDouble({})
    await double.close()
    closers.length = 0
    const report = await examine(`${double.url},kind=vllm`)
    expect(find(report, 'engine')).toMatchObject({
      level: 'fatal',
      found: expect.stringContaining('ECONNREFUSED'),
      fix: expect.stringContaining('nothing listens'),
    })
    // the prompt is checked nevertheless
    expect(Object.keys(levelsOf(report))).toEqual(['engine', 'blocks', 'mirror'])
  })

  test('a name that does not exist', async () => {
    const report = await examine('http://engine.invalid:8000')
    expect(find(report, 'engine')).toMatchObject({ level: 'fatal', fix: expect.stringContaining('cannot resolve') })
  })

  test('https where there is no TLS', async () => {
    const { port } = await startDouble({})
    const report = await examine(`https://127.0.0.1:${port}`)
    expect(find(report, 'engine')).toMatchObject({ level: 'fatal', fix: expect.stringContaining('http://') })
  })

  test.each([
    ['a web page', 200, '<!doctype html><title>Hello</title>', /a web page/],
    ['a path that is not there', 404, '{"detail":"Not Found"}', /404/],
    ['JSON of another shape', 200, '{"status":"up"}', /something else/],
    ['an engine that loads', 503, '', /not ready/],
    ['an engine that fails', 500, 'oops', /answers 500/],
  ])('%s', async (_, status, body, found) => {
    const { url } = await startDouble({ respond: (response) => response.writeHead(status).end(body) })
    const report = await examine(url)
    expect(find(report, 'engine')).toMatchObject({ level: 'fatal', found: expect.stringMatching(found) })
  })

  test.each([
    ['before the head', (): void => {}],
    ['in the middle of its body', (response: ServerResponse): void => void response.writeHead(200).write('{')],
  ])('a server that hangs %s is waited for no longer than the timeout', async (_, respond) => {
    const { url } = await startDouble({ respond })
    const report = await examine(url, { timeoutMilliseconds: 300 })
    expect(find(report, 'engine')).toMatchObject({ level: 'fatal', found: 'no answer within 0.3 s' })
  })

  test('a server that breaks off', async () => {
    const { url } = await startDouble({ respond: (response) => response.destroy() })
    expect(find(await examine(url), 'engine')).toMatchObject({
      level: 'fatal',
      fix: expect.stringContaining('https://'),
    })
  })
})

describe('keys', () => {
  const guarded: DoubleOptions = { respond: (response) => response.writeHead(401).end('{}') }

  test('a missing and a wrong key are told apart, and the key is never shown', async () => {
    const { url, requests } = await startDouble(guarded)
    expect(find(await examine(url), 'engine')).toMatchObject({
      found: expect.stringContaining('asks for an API key'),
      fix: expect.stringContaining('REPRISE_ENGINE_API_KEY'),
    })
    const report = await examine(url, { engineKey: 'sk-secret' })
    expect(find(report, 'engine').found).toContain('refuses the API key')
    expect(JSON.stringify(report)).not.toContain('sk-secret')
    expect(requests.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer sk-secret'])
  })

  test('a password in the URL is not repeated', async () => {
    const { port } = await startDouble({})
    const report = await examine(`http://user:hush@127.0.0.1:${port}`)
    expect(JSON.stringify(report)).not.toContain('hush')
  })
})

describe('a running proxy', () => {
  /** Starts a proxy double whose engine reports, or does not, between one query and the next. */
  async function startMirror(mode: string, isReporting = mode === 'exact'): Promise<RecordingEngineDouble> {
    let sequence = 7
    return startDouble({
      respond: (response) => {
        if (isReporting) sequence += 1
        const replicas = [{ replica: 'gpu-1', mode, generation: 'g', sequence }]
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ replicas }))
      },
    })
  }

  test.each([
    ['exact', 'ok'],
    ['degraded', 'warning'],
    ['fallback', 'warning'],
  ])('whose mirror is %s is %s', async (mode, level) => {
    const { url: adminUrl, requests } = await startMirror(mode)
    const report = await examine(`${await emulate('vllm')},kind=vllm`, { adminUrl, adminToken: 't' })
    expect(find(report, 'mirror')).toMatchObject({ level, found: expect.stringContaining(`gpu-1: ${mode}`) })
    expect(requests[0]!.headers.authorization).toBe('Bearer t')
    if (mode !== 'fallback') return
    expect(find(report, 'mirror').fix).toContain(`REPRISE_CALLBACK_URL=${adminUrl}/v1/replicas/gpu-1`)
    expect(find(report, 'mirror').fix).toContain('"kv_connector":"RepriseConnector"')
  })

  test('whose mirror is exact, but of another engine than this one', async () => {
    const { url: adminUrl } = await startMirror('exact', false)
    expect(find(await examine(await emulate('vllm'), { adminUrl }), 'mirror')).toMatchObject({
      level: 'warning',
      found: expect.stringContaining('nobody reported while this engine computed'),
      fix: expect.stringContaining(`REPRISE_CALLBACK_URL=${adminUrl}/v1/replicas/gpu-1`),
    })
    // an unreachable engine has computed nothing to report
    expect(find(await examine('http://127.0.0.1:9', { adminUrl }), 'mirror').level).toBe('ok')
  })

  test('of several engines is judged by this one alone, by its URL or its name', async () => {
    const replicas = [
      { replica: 'gpu-0', url: 'http://gpu-0:30000', mode: 'fallback', sequence: 0 },
      { replica: 'gpu-1', url: 'placeholder', mode: 'fallback', sequence: 0 },
      { replica: 'gpu-2', url: 'http://gpu-2:30000', mode: 'exact', sequence: 3 },
    ]
    const { url: adminUrl } = await startDouble({
      respond: (response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ replicas })),
    })
    const engine = await emulate('sglang')
    replicas[1]!.url = engine.replace('127.0.0.1', 'localhost')
    const mirrorOf = async (settings: string): Promise<Finding[]> =>
      (await examine(`${engine},kind=sglang${settings}`, { adminUrl })).findings.filter(
        ({ check }) => check === 'mirror',
      )
    const other = (replica: string): object => ({
      level: 'not_checked',
      found: `${replica}: fallback, another engine than this one`,
      fix: expect.stringMatching(new RegExp(`^run doctor with --engine http:.*,id=${replica}$`)),
    })
    const advised = (replica: string): object => ({
      level: 'warning',
      fix: expect.stringMatching(new RegExp(`/v1/replicas/${replica} and --radix-cache-backend reprise$`)),
    })
    expect(await mirrorOf('')).toMatchObject([advised('gpu-1'), other('gpu-0')])
    expect(await mirrorOf(',id=gpu-0')).toMatchObject([advised('gpu-0'), other('gpu-1')])
    const unknown = `the proxy has no replica 'gpu-9': it has gpu-0 (http://gpu-0:30000), gpu-1`
    expect((await mirrorOf(',id=gpu-9'))[0]).toMatchObject({
      level: 'warning',
      found: expect.stringContaining(unknown),
    })
    replicas[1]!.url = 'http://gpu-1:30000'
    expect(await mirrorOf('')).toMatchObject([
      { level: 'warning', found: expect.stringMatching(/^the proxy knows no engine at this URL: it has gpu-0/) },
      other('gpu-0'),
      other('gpu-1'),
    ])
  })

  test('hears of what this check lets its engine compute', async () => {
    const port = await findFreePort()
    const { sglangBlockSize: _, ...options } = { ...emulatorDefaults, kind: 'vllm' as const, host: '127.0.0.1' }
    const proxy = await startTestProxy({ url: `http://127.0.0.1:${port}`, kind: 'vllm', id: 'gpu-0' })
    closers.push(() => proxy.close())
    const emulator = await startEmulator({ ...options, port, callbackUrl: `${proxy.adminUrl}/v1/replicas/gpu-0` })
    closers.push(() => emulator.close())
    const report = await examine(`${emulator.url},kind=vllm`, { adminUrl: proxy.adminUrl })
    expect(find(report, 'mirror')).toEqual({
      check: 'mirror',
      level: 'ok',
      found: 'gpu-0: exact, its reports arrive',
    })
    expect(report).toMatchObject({ fatal: 0, warnings: 0 })
  })

  test('that refuses or is none is fatal', async () => {
    const refusing = await startDouble({ respond: (response) => response.writeHead(401).end('{}') })
    const engine = await emulate('vllm')
    expect(find(await examine(engine, { adminUrl: refusing.url }), 'mirror')).toMatchObject({
      level: 'fatal',
      fix: expect.stringContaining('REPRISE_ADMIN_TOKEN'),
    })
    expect(find(await examine(engine, { adminUrl: engine }), 'mirror')).toMatchObject({ level: 'fatal' })
  })
})

describe('the command', () => {
  const reprise = join(import.meta.dirname, '..', 'bin', 'reprise')

  async function doctor(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [reprise, 'doctor', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    closers.push(async () => void child.kill('SIGKILL'))
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => {
      output.stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      output.stderr += chunk
    })
    const [code] = await once(child, 'close')
    return { code, ...output }
  }

  test('prints a table and ends with 0 when nothing is fatal', async () => {
    const { code, stdout } = await doctor('--engine', `${await emulate('vllm')},kind=vllm`)
    expect(stdout).toMatch(/ok\s+│ prefix caching\s+│ works/)
    expect(stdout).toContain('nothing to mend')
    expect(code).toBe(0)
  })

  test('--json prints one object; anything fatal ends with 1', async () => {
    const { code, stdout } = await doctor('--json', '--engine', 'http://127.0.0.1:9')
    expect(JSON.parse(stdout)).toMatchObject({ engine: 'http://127.0.0.1:9', kind: null, fatal: 1 })
    expect(stdout.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(1)
  })

  test('checks the prompt of a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
    closers.push(async () => rmSync(folder, { recursive: true }))
    const file = join(folder, 'request.json')
    const system = { role: 'system', content: 'Current time: 14:03' }
    writeFileSync(file, JSON.stringify({ messages: [system, { role: 'user', content: 'Hi' }] }))
    const { code, stdout } = await doctor('--engine', `${await emulate('vllm')},kind=vllm`, '--prompt', file, '--json')
    const report = JSON.parse(stdout) as DoctorReport
    expect(levelsOf(report)).toMatchObject({ blocks: 'warning', volatile_text: 'warning' })
    expect(code).toBe(0)
  })

  test('checks a prompt alone without an engine', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
    closers.push(async () => rmSync(folder, { recursive: true }))
    const file = join(folder, 'request.json')
    writeFileSync(file, JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }))
    const { code, stdout } = await doctor('--prompt', file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ engine: file, kind: null, findings: [{ check: 'blocks' }, {}] })
    expect(code).toBe(0)
  })

  test('checks every engine that a configuration names, with its own key', async () => {
    const keys: unknown[] = []
    const [good, bad] = [await emulate('vllm'), await startDouble({ pages: { '/v1/models': '' } })]
    const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
    closers.push(async () => rmSync(folder, { recursive: true }))
    const file = join(folder, 'reprise.json')
    const engines = [
      { url: good, kind: 'vllm', id: 'a' },
      { url: bad.url, kind: 'vllm', id: 'b', api_key: 'k-b' },
    ]
    writeFileSync(file, JSON.stringify({ engines }))
    const { code, stdout } = await doctor('--config', file, '--json')
    const reports = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(reports).toMatchObject([
      { engine: good, fatal: 0 },
      { engine: bad.url, fatal: 1 },
    ])
    for (const { headers } of bad.requests) keys.push(headers.authorization)
    expect([code, new Set(keys)]).toEqual([1, new Set(['Bearer k-b'])])
  })

  test('warns of what serve would warn of at the start', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
    closers.push(async () => rmSync(folder, { recursive: true }))
    const file = join(folder, 'reprise.json')
    const hashed = (name: string): string => createHash('sha256').update(name).digest('hex')
    const keys = keysIn(...['a', 'b'].map((name) => ({ name, tenant: name, sha256: hashed(name) })))
    const [url, other] = [await emulate('vllm'), await emulate('vllm')]
    const told = async (engines: readonly object[], more: object): Promise<string[][]> => {
      writeFileSync(file, JSON.stringify({ engines, ...more }))
      const { stdout } = await doctor('--config', file, '--json')
      const reports = stdout.trim().split('\n')
      return reports.map((report) =>
        (JSON.parse(report) as DoctorReport).findings.flatMap(({ check, level, found }) =>
          check === 'configuration' ? [`${level}: ${found}`] : [],
        ),
      )
    }
    const engines = [
      { url, kind: 'openai', id: 'gpu-0' },
      { url: other, kind: 'vllm', id: 'gpu-1' },
    ]
    expect(await told(engines, { keys })).toEqual([
      [
        expect.stringMatching(/^warning: keys are configured without tenants\.salt_secret/),
        expect.stringMatching(/^warning: Engines of kind openai get no cache_salt \(gpu-0\)/),
      ],
      [],
    ])
    expect(await told([engines[1]!], {})).toEqual([[expect.stringMatching(/^warning: No API keys are configured/)]])
    expect(await told([engines[1]!], { keys, tenants: { salt_secret: 'x'.repeat(32) } })).toEqual([[]])
  })

  test.each([
    [['--config', 'x.yaml', '--engine', 'http://x'], /cannot be used with option '--engine/],
    [[], /required option '--engine/],
    [['--redis', 'redis://x', '--admin', 'http://a'], /required option '--engine/],
    [['--engine', 'ftp://x'], /is not the URL of an engine/],
    [['--engine', 'http://x', '--engine', 'http://y'], /one engine/],
    [['--engine', 'http://x', '--prompt', '/nonexistent.json'], /cannot read/],
    [['--engine', 'http://x', '--redis', 'http://x'], /not the URL of a Redis/],
    [['--engine', 'http://x', '--admin', 'x'], /is not a URL/],
    [['--engine', 'http://x', '--timeout-seconds', '0'], /seconds/],
  ])('wrong usage ends with 2 and one line: %j', async (args, message) => {
    const { code, stderr } = await doctor(...args)
    expect(stderr.trim()).toMatch(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(code).toBe(2)
  })

  test('checks a Redis alone', async () => {
    const { code, stdout } = await doctor('--redis', 'redis://:secret@127.0.0.1:1', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ fatal: 1, findings: [{ check: 'redis', level: 'fatal' }] })
    expect(stdout).not.toContain('secret')
    expect(code).toBe(1)
  })

  test('Ctrl-C ends it at once, with one line, and the engine is not left to compute', async () => {
    const engine = await startDouble({ respond: () => {} })
    const child = spawn(process.execPath, [reprise, 'doctor', '--engine', engine.url], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    closers.push(async () => void child.kill('SIGKILL'))
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    await expect.poll(() => engine.requests.length, { timeout: 20_000 }).toBe(1)
    child.kill('SIGINT')
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: stopped before the checks were done\n' })
    await engine.abortions[0]
  })
})
