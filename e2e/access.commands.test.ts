import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { UsageReport } from '#proxy/telemetry/caller-usage.ts'
import { keysIn } from './keys-file.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { Reprises, writeSettings } from './run-reprise.ts'
import { serveHere } from './serve-here.ts'
import { ragRequest } from './start-test-proxy.ts'

const reprises = new Reprises()
let folder: string
let engine: RecordingEngineDouble

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-access-'))
  engine = await startRecordingEngineDouble()
})
afterEach(async () => {
  reprises.stopAll()
  await engine.close()
  rmSync(folder, { recursive: true })
})

function entry(key: string, rest: object = {}): object {
  return { tenant: `tenant of ${key}`, sha256: createHash('sha256').update(key).digest('hex'), ...rest }
}

function writeKeys(...entries: object[]): string {
  const file = join(folder, 'keys.json')
  writeFileSync(file, JSON.stringify({ keys: entries }))
  return file
}

function settingsOf(settings: object): string {
  return writeSettings(folder, { engines: [{ url: engine.url, kind: 'vllm' }], ...settings })
}

const serve = (settings: object): ReturnType<typeof serveHere> => serveHere(settingsOf(settings))

function ask(
  url: string | undefined,
  headers: Record<string, string>,
  path = '/v1/chat/completions',
): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(ragRequest('q', ['a', 'b'])),
  })
}

function saltOfLast(): unknown {
  return (JSON.parse(engine.requests.at(-1)!.body.toString()) as { cache_salt?: unknown }).cache_salt
}

test('only those who show a key are answered, on every path, and their key stays here', async () => {
  const { listening } = await serve({ keys: { file: writeKeys(entry('sk-1')) } })
  for (const path of ['/v1/chat/completions', '/v1/models', '/v1/embeddings'])
    for (const headers of [{}, { authorization: 'Bearer sk-2' }, { authorization: 'sk-1' }, { 'x-api-key': 'sk-' }]) {
      const refused = await ask(listening.url, headers as Record<string, string>, path)
      expect(refused.status).toBe(401)
      expect(refused.headers.get('www-authenticate')).toBe('Bearer')
      expect(await refused.json()).toMatchObject({ error: { code: 'unauthorized', message: expect.any(String) } })
    }
  expect(engine.requests).toHaveLength(0)
  for (const path of ['/v1/chat/completions', '/v1/embeddings'])
    for (const headers of [{ authorization: 'Bearer sk-1' }, { 'x-api-key': 'sk-1' }]) {
      const answered = await ask(listening.url, headers as Record<string, string>, path)
      expect(answered.status).toBe(200)
      await answered.text()
    }
  for (const { headers } of engine.requests) {
    expect(headers).not.toHaveProperty('authorization')
    expect(headers).not.toHaveProperty('x-api-key')
  }
  expect(engine.requests).toHaveLength(4)
})

test('the usage of each key is exported by its name, and by its tenant in metrics', async () => {
  const emulator = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0 })
  onTestFinished(() => emulator.close())
  const engines = [{ url: emulator.url, kind: 'vllm' }]
  const keys = [entry('sk-1', { name: 'app' }), entry('sk-2', { name: 'batch', tenant: 'acme' })]
  const { listening } = await serve({ mode: 'on', keys: { file: writeKeys(...keys) }, engines })
  const texts = [1, 2, 3].map((n) => `${n} documents say ${'the same and more '.repeat(40)}`)
  const [first, second, third] = texts as [string, string, string]
  for (const [key, blocks] of [
    ['sk-1', texts],
    ['sk-1', [third, second, first]],
    ['sk-2', texts],
  ] as const) {
    const response = await fetch(`${listening.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(ragRequest('What do they say?', blocks)),
    })
    expect(response.status).toBe(200)
    await response.text()
  }
  const admin = listening.admin_url!
  const read = async (): Promise<UsageReport> => (await (await fetch(`${admin}/v1/usage`)).json()) as UsageReport
  await vi.waitFor(async () => expect((await read()).callers[0]).toMatchObject({ requests: 2 }))
  const { callers, total } = await read()
  expect(callers.map(({ tenant, key, requests }) => [tenant, key, requests])).toEqual([
    ['tenant of sk-1', 'app', 2],
    ['acme', 'batch', 1],
  ])
  const [app, batch] = callers
  expect(app!.saved_tokens).toBeGreaterThan(300)
  expect(batch).toMatchObject({ cached_tokens: 0, saved_tokens: 0, reused_tokens: 0 })
  expect(total.prompt_tokens).toBe(app!.prompt_tokens + batch!.prompt_tokens)
  const metrics = await (await fetch(`${admin}/metrics`)).text()
  expect(metrics).toContain(
    `reprise_caller_prompt_tokens_total{tenant="tenant of sk-1",key="app"} ${app!.prompt_tokens}`,
  )
  expect(metrics).toContain('reprise_caller_requests_total{tenant="acme",key="batch"} 1')
  expect(metrics + JSON.stringify(await read())).not.toMatch(/sk-2|[0-9a-f]{64}/)
})

test('who shows no key is told so in the shape of the API that was called', async () => {
  const { listening } = await serve({ keys: { file: writeKeys(entry('sk-1')) } })
  for (const path of ['/v1/messages', '/v1/messages/count_tokens'])
    expect(await (await ask(listening.url, {}, path)).json()).toMatchObject({
      type: 'error',
      error: { type: 'authentication_error', code: 'unauthorized' },
    })
  expect(await (await ask(listening.url, {}, '/v1/embeddings')).json()).toMatchObject({
    error: { type: 'invalid_request_error', param: null, code: 'unauthorized' },
  })
})

test('a client’s key goes to the engine where configured, and without keys', async () => {
  const forwarding = await serve({ keys: { ...keysIn(entry('sk-1')), forward_client_authorization: true } })
  await (await ask(forwarding.listening.url, { authorization: 'Bearer sk-1' })).text()
  const open = await serve({})
  await (await ask(open.listening.url, { authorization: 'Bearer any' })).text()
  await (await ask(open.listening.url, { authorization: 'Bearer any' }, '/v1/embeddings')).text()
  expect(engine.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer sk-1',
    'Bearer any',
    'Bearer any',
  ])
})

test('an engine’s own key takes the place of the client’s', async () => {
  const { listening } = await serve({ engine_api_key: 'engine', keys: keysIn(entry('sk-1')) })
  for (const path of ['/v1/chat/completions', '/v1/embeddings'])
    await (await ask(listening.url, { 'x-api-key': 'sk-1' }, path)).text()
  expect(engine.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer engine', 'Bearer engine'])
})

test('keys of one tenant share cache, others and hand-made tenants do not', async () => {
  const { listening } = await serve({
    keys: keysIn(entry('a', { tenant: 't' }), entry('b', { tenant: 't' }), entry('c')),
  })
  const saltFor = async (headers: Record<string, string>): Promise<unknown> => {
    await (await ask(listening.url, headers)).text()
    return saltOfLast()
  }
  const salt = await saltFor({ 'x-api-key': 'a' })
  expect(salt).toEqual(expect.any(String))
  expect(await saltFor({ 'x-api-key': 'b' })).toBe(salt)
  expect(await saltFor({ 'x-api-key': 'c' })).not.toBe(salt)
  expect(await saltFor({ 'x-api-key': 'c', 'x-reprise-tenant': 't' })).not.toBe(salt)
})

test('the tenant that a trusted peer names counts, that of others does not', async () => {
  const [trusting, other] = [
    await serve({ tenants: { trusted_peers: ['127.0.0.0/8'] } }),
    await serve({ tenants: { trusted_peers: ['10.0.0.0/8'] } }),
  ]
  const salts: unknown[] = []
  for (const { listening } of [trusting, other])
    for (const tenant of ['one', 'two']) {
      await (await ask(listening.url, { 'x-reprise-tenant': tenant })).text()
      salts.push(saltOfLast())
    }
  expect(salts[0]).not.toBe(salts[1])
  expect(salts[2]).toBe(salts[3])
})

test('keys change without a restart: when the file does, and at SIGHUP', async () => {
  const file = writeKeys(entry('old'))
  const { listening, child, stderr } = await reprises.start(['serve', '--config', settingsOf({ keys: { file } })])
  const statusOf = async (key: string): Promise<number> => (await ask(listening.url, { 'x-api-key': key })).status
  expect(await statusOf('old')).toBe(200)
  writeKeys(entry('new'))
  await vi.waitFor(async () => expect(await statusOf('new')).toBe(200), { timeout: 20_000, interval: 100 })
  expect(await statusOf('old')).toBe(401)
  writeKeys(entry('newest'))
  child.kill('SIGHUP')
  await vi.waitFor(async () => expect(await statusOf('newest')).toBe(200), { timeout: 20_000, interval: 50 })
  await vi.waitFor(() => expect(stderr()).toContain('configuration reloaded'))
  // the log may name the tenant of a key, never the key itself
  expect(stderr().replaceAll(/tenant of \w+/g, '')).not.toMatch(/\b(?:new|newest|old)\b/)
})

test('a key that has used up its minute is told when to come back, and others go on', async () => {
  const { listening } = await serve({ keys: keysIn(entry('a', { requests_per_minute: 2 }), entry('b')) })
  for (let i = 0; i < 2; i++) expect((await ask(listening.url, { 'x-api-key': 'a' })).status).toBe(200)
  const refused = await ask(listening.url, { 'x-api-key': 'a' })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited' } })
  expect((await ask(listening.url, { 'x-api-key': 'b' })).status).toBe(200)
})

test('a key that has used up its minute is told before its body has come', async () => {
  const { listening } = await serve({ keys: keysIn(entry('a', { requests_per_minute: 1 })) })
  expect((await ask(listening.url, { 'x-api-key': 'a' })).status).toBe(200)
  const headers = { 'content-type': 'application/json', 'content-length': '1000000', 'x-api-key': 'a' }
  const unfinished = request(`${listening.url}/v1/chat/completions`, { method: 'POST', headers })
  unfinished.on('error', () => {})
  unfinished.write('{"messages":')
  const [answer] = (await once(unfinished, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(429)
  expect(answer.headers['x-ratelimit-limit-requests']).toBe('1')
  unfinished.destroy()
})
