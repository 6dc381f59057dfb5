import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readVersion } from '#proxy/common/read-version.ts'
import { keysIn } from './keys-file.ts'
import { connectRaw, rawPost } from './raw-client.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { Reprises, type RunningReprise, runReprise, writeSettings } from './run-reprise.ts'
import { serveHere } from './serve-here.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const reprises = new Reprises()
let folder: string
let engine: RecordingEngineDouble

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-operating-'))
  engine = await startRecordingEngineDouble()
})
afterEach(async () => {
  reprises.stopAll()
  await engine.close()
  rmSync(folder, { recursive: true })
})

function settingsOf(settings: object): string {
  return writeSettings(folder, { engines: [{ url: engine.url, kind: 'vllm', id: 'gpu-0' }], ...settings })
}

const serve = (settings: object): ReturnType<typeof serveHere> => serveHere(settingsOf(settings))
const start = (settings: object): Promise<RunningReprise> => reprises.start(['serve', '--config', settingsOf(settings)])

const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex')
const keys = keysIn({ tenant: 'acme', name: 'acme-app', sha256: sha256('sk-1'), requests_per_minute: 3 })
const bearer = { authorization: 'Bearer sk-1' }

function linesOf({ stderr }: RunningReprise, message: string): Record<string, unknown>[] {
  const lines = stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return lines.filter(({ msg }) => msg === message)
}

test('every line of a request says who sent it, of those that are refused too', async () => {
  const proxy = await start({ keys, tenants: { salt_secret: 's' } })
  const chat = `${proxy.listening.url}/v1/chat/completions`
  const send = async (headers: Record<string, string>, url = chat): Promise<number> =>
    (await postJson(url, ragRequest('q', ['a', 'b']), { headers })).status
  expect(await send(bearer)).toBe(200)
  expect(await send({ authorization: 'Bearer sk-2' })).toBe(401)
  expect(await send(bearer, `${proxy.listening.url}/reset_prefix_cache`)).toBe(403)
  expect(await send(bearer)).toBe(200)
  const limited = await postJson(chat, ragRequest('q', ['a']), { headers: bearer })
  expect([limited.status, limited.headers.get('x-ratelimit-limit-requests')]).toEqual([429, '3'])
  const named = { client: '127.0.0.1', tenant: 'acme', key: 'acme-app' }
  await vi.waitFor(() =>
    expect(linesOf(proxy, 'request')).toEqual([
      expect.objectContaining({ status: 200, ...named }),
      expect.objectContaining({ status: 401, client: '127.0.0.1', outcome: 'unauthorized' }),
      expect.objectContaining({ status: 403, ...named, outcome: 'forbidden' }),
      expect.objectContaining({ status: 200, ...named }),
      expect.objectContaining({ status: 429, ...named, outcome: 'rate_limited' }),
    ]),
  )
})

test('a key is for inference: what controls the engine needs to be allowed', async () => {
  const { listening } = await serve({
    keys: { ...keysIn({ tenant: 'acme', sha256: sha256('sk-1') }), allow_engine_paths: ['/metrics', '/v1/files/*'] },
  })
  const ask = (path: string): Promise<Response> => fetch(listening.url + path, { method: 'POST', headers: bearer })
  const refused = await ask('/reset_prefix_cache?x=1')
  expect([refused.status, (await errorOf(refused)).code]).toEqual([403, 'forbidden'])
  expect((await ask('/flush_cache')).status).toBe(403)
  expect(engine.requests).toEqual([])
  expect((await ask('/v1/files/f-1')).status).toBe(200)
  expect((await ask('/v1/models')).status).toBe(200)
  expect(engine.requests.map(({ url }) => url)).toEqual(['/v1/files/f-1', '/v1/models'])
})

test.each([
  '/metrics/../v1/chat/completions',
  '/metrics/%2e%2e/v1/chat/completions',
  'http://a@h/metrics/../v1/chat/completions',
  '/v1/chat/completions/../../../metrics',
])('a key opens no other path of the engine by dot segments: %s', async (path) => {
  const { listening } = await serve({ keys: keysIn({ tenant: 'acme', sha256: sha256('sk-1') }) })
  const client = await connectRaw(listening.url!)
  client.write(rawPost(path, ragRequest('q', ['a']), ['authorization: Bearer sk-1', 'connection: close']))
  expect(await client.ended).toMatch(/^HTTP\/1\.1 403 .*"forbidden"/s)
  expect(engine.requests).toEqual([])
})

test('without keys every path is passed on', async () => {
  const { listening } = await serve({})
  expect((await fetch(`${listening.url}/reset_prefix_cache`, { method: 'POST' })).status).toBe(200)
})

test('start, drain and exit are lines of the log, with the version', async () => {
  const proxy = await start({})
  const engines = [{ id: 'gpu-0', kind: 'vllm', url: engine.url }]
  await vi.waitFor(() => expect(linesOf(proxy, 'started')).toHaveLength(1))
  expect(linesOf(proxy, 'started')[0]).toMatchObject({
    version: readVersion(),
    engines,
    mode: 'on',
    tenants_from: 'key',
    time: expect.any(Number),
  })
  expect(proxy.stderr()).toContain('whatever bearer a client shows is a tenant of its own')
  proxy.child.kill('SIGTERM')
  await once(proxy.child, 'exit')
  expect(linesOf(proxy, 'draining: new requests are refused')).toMatchObject([{ version: readVersion() }])
  expect(linesOf(proxy, 'stopped')).toMatchObject([{ version: readVersion() }])
  expect(runReprise(['--version'])).toMatchObject({ status: 0, stdout: `${readVersion()}\n` })
})

test('requests have no lines at level warn', async () => {
  const proxy = await start({ logs: { level: 'warn' } })
  await (await postJson(`${proxy.listening.url}/v1/chat/completions`, ragRequest('q', ['a']))).text()
  proxy.child.kill('SIGTERM')
  await once(proxy.child, 'exit')
  expect(linesOf(proxy, 'request')).toEqual([])
})

test.each([
  ['key', 2],
  ['none', 1],
])('tenants from %s: two bearers with one prompt have %d salts', async (from, salts) => {
  const { listening } = await serve({ tenants: { from } })
  for (const key of ['a', 'b']) {
    const headers = { authorization: `Bearer ${key}` }
    await (await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']), { headers })).text()
  }
  expect(new Set(engine.requests.map(({ body }) => JSON.parse(body.toString()).cache_salt)).size).toBe(salts)
})

test('explain answers for the tenant or key that is asked about', async () => {
  const { listening } = await serve({})
  const send = (blocks: string[]): Promise<Response> =>
    postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', blocks, { cache_salt: 'mine' }), {
      headers: { authorization: 'Bearer app' },
    })
  await (await send(['first', 'second', 'third'])).text()
  const explain = async (headers: Record<string, string>): Promise<{ order: number[]; tenant: string }> => {
    const body = ragRequest('q', ['third', 'first', 'second'], { cache_salt: 'mine' })
    return (await (await postJson(`${listening.admin_url}/v1/explain`, body, { headers })).json()) as never
  }
  expect((await explain({})).order).toEqual([0, 1, 2])
  const asked = await explain({ 'x-reprise-key': 'app' })
  expect(asked.order).toEqual([1, 2, 0])
  expect((await explain({ authorization: 'Bearer app' })).tenant).toBe(asked.tenant)
  // as the log and GET /v1/usage have it
  expect((await explain({ 'x-reprise-tenant': 'other' })).tenant).toBe('other')
  // the client's salt is left out, because the engine would get a different one
  expect(await explain({})).toMatchObject({ body: { model: 'm' } })
  expect(await explain({})).not.toHaveProperty('body.cache_salt')
})

test('readyz tells of engines where that is configured', async () => {
  const dead = await startRecordingEngineDouble()
  await dead.close()
  const states = async (readyz: string): Promise<number[]> => {
    const engines = [{ url: dead.url, kind: 'vllm', id: 'gpu-0' }]
    const { listening } = await serve({ engines, health: { readyz } })
    const status = async (): Promise<number> => (await fetch(`${listening.admin_url}/readyz`)).status
    const before = await status()
    const ask = (): Promise<Response> => postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']))
    await Promise.all(Array.from({ length: 5 }, ask))
    return [before, await status()]
  }
  expect(await states('proxy')).toEqual([200, 200])
  expect(await states('engine')).toEqual([200, 503])
})

test('what is measured by replica adds up to the sums', async () => {
  const { listening } = await serve({})
  await (await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']))).text()
  const text = await (await fetch(`${listening.admin_url}/metrics`)).text()
  for (const line of [
    'reprise_replica_requests_total{replica="gpu-0",outcome="finished"} 1',
    'reprise_replica_prompt_tokens_total{replica="gpu-0"} 8',
    'reprise_replica_time_to_first_token_seconds_count{replica="gpu-0"} 1',
    'reprise_prompt_tokens_total 8',
    'reprise_fail_open_total{reason="too_large_to_rewrite"} 0',
  ])
    expect(text).toContain(`\n${line}\n`)
})

test('the engine gets the address of the client behind those in front of us, and the client not that of the engine', async () => {
  const { listening } = await serve({})
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  await (await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']), { headers })).text()
  expect(engine.requests.at(-1)!.headers['x-forwarded-for']).toBe('203.0.113.9, 127.0.0.1')
  await engine.close()
  const refused = await postJson(`${listening.url}/v1/chat/completions`, ragRequest('q', ['a']))
  expect((await errorOf(refused)).message).not.toContain(new URL(engine.url).port)
  engine = await startRecordingEngineDouble()
})

test('who may not control is told how to, also where no token is configured', async () => {
  const proxy = await startTestProxy()
  const refused = await fetch(`${proxy.adminUrl}/v1/mirror`, { headers: { origin: 'http://elsewhere' } })
  expect([refused.status, (await errorOf(refused)).message]).toEqual([401, expect.stringMatching(/^No admin token/)])
  await proxy.close()
})

test('a path of the control plane that is asked by another method says by which', async () => {
  const { listening } = await serve({})
  const asked = await fetch(`${listening.admin_url}/v1/explain`)
  expect([asked.status, asked.headers.get('allow')]).toEqual([405, 'POST'])
  expect((await fetch(`${listening.admin_url}/v1/replicas/gpu-0/drain`)).status).toBe(405)
  expect((await fetch(`${listening.admin_url}/v1/nothing`)).status).toBe(404)
})
