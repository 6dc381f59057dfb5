import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readVersion } from '#proxy/common/read-version.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { logLines, Reprises, type RunningReprise, writeSettings } from './run-reprise.ts'
import { postJson, ragRequest } from './start-test-proxy.ts'

const reprises = new Reprises()
let folder: string
let engine: RecordingEngineDouble

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-log-lines-'))
  engine = await startRecordingEngineDouble()
})
afterEach(async () => {
  reprises.stopAll()
  await engine.close()
  rmSync(folder, { recursive: true })
})

function serve(settings: object = {}): Promise<RunningReprise> {
  const engines = [{ url: engine.url, kind: 'vllm', id: 'gpu-0' }]
  return reprises.start(['serve', '--config', writeSettings(folder, { engines, ...settings })])
}

/** Begins a streamed chat whose answer never ends. */
async function beginStream(proxy: RunningReprise): Promise<void> {
  engine.answer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"choices":[]}\n\n')
  })
  const body = ragRequest('q', ['a', 'b'], { stream: true })
  const answer = await postJson(`${proxy.listening.url}/v1/chat/completions`, body)
  const reader = answer.body!.getReader()
  await reader.read()
  void reader.read().catch(() => {})
}

test('refused admin requests have a line', async () => {
  const proxy = await serve({ admin: { listen: '127.0.0.1:0', token: 'right' }, logs: { level: 'warn' } })
  const headers = { authorization: 'Bearer wrong', origin: 'http://evil.example' }
  const refused = await fetch(`${proxy.listening.admin_url}/v1/index?secret`, { method: 'DELETE', headers })
  expect(refused.status).toBe(401)
  const line = { client: '127.0.0.1', method: 'DELETE', path: '/v1/index', status: 401 }
  await vi.waitFor(() => expect(logLines(proxy, 'admin request refused')).toEqual([expect.objectContaining(line)]))
  expect(proxy.stderr()).not.toMatch(/wrong|secret/)
})

test('admin requests that change something have a line, and no others', async () => {
  const proxy = await serve()
  const ask = async (method: string, path: string, body?: object): Promise<number> =>
    (
      await fetch(proxy.listening.admin_url + path, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      })
    ).status
  expect(await ask('GET', '/v1/stats')).toBe(200)
  expect(await ask('POST', '/v1/replicas/gpu-0/snapshot', { generation: 'g', sequence: 0, requests: [] })).toBe(200)
  expect(await ask('POST', '/evict', { request_ids: [] })).toBe(200)
  expect(await ask('POST', '/v1/replicas/nobody/drain')).toBe(404)
  expect(await ask('DELETE', '/v1/index')).toBe(200)
  const text = 'a chunk that is long enough to be known again where it stands in a prompt '.repeat(8)
  expect(await ask('PUT', '/v1/chunks?tenant=acme', { chunks: [{ id: 'a', text }] })).toBe(200)
  expect(await ask('DELETE', '/v1/chunks')).toBe(200)
  expect(await ask('POST', '/v1/replicas/gpu-0/drain')).toBe(200)
  expect(await ask('POST', '/v1/replicas/gpu-0/resume')).toBe(200)
  expect(await ask('POST', '/v1/drain')).toBe(202)
  await once(proxy.child, 'exit')
  expect(logLines(proxy, 'admin request')).toMatchObject(
    [
      { method: 'DELETE', path: '/v1/index', state: 'cleared' },
      { method: 'PUT', path: '/v1/chunks', added: 1 },
      { method: 'DELETE', path: '/v1/chunks', forgotten: 1 },
      { method: 'POST', path: '/v1/replicas/gpu-0/drain', replica: 'gpu-0', state: 'draining' },
      { method: 'POST', path: '/v1/replicas/gpu-0/resume', replica: 'gpu-0', state: 'ready' },
      { method: 'POST', path: '/v1/drain', state: 'draining' },
    ].map((line) => ({ client: '127.0.0.1', level: 30, ...line })),
  )
  expect(proxy.stderr()).not.toContain('a chunk that is long')
})

test('a second signal ends a proxy with a line, too', async () => {
  const proxy = await serve()
  await beginStream(proxy)
  proxy.child.kill('SIGTERM')
  await vi.waitFor(() => expect(logLines(proxy, 'draining: new requests are refused')).toHaveLength(1))
  proxy.child.kill('SIGTERM')
  expect(await once(proxy.child, 'exit')).toEqual([1, null])
  const line = { version: readVersion(), signal: 'SIGTERM' }
  await vi.waitFor(() =>
    expect(logLines(proxy, 'stopped at once: requests in flight were cut off')).toEqual([
      expect.objectContaining(line),
    ]),
  )
})

test('a request that outlasts the drain says so', async () => {
  const proxy = await serve({ drain_seconds: 1, drain_delay_seconds: 1 })
  await beginStream(proxy)
  proxy.child.kill('SIGTERM')
  expect(await once(proxy.child, 'exit')).toEqual([0, null])
  expect(logLines(proxy, 'request')).toMatchObject([{ outcome: 'cut_by_drain', status: 200 }])
  expect(logLines(proxy, 'leaving: requests are still served')).toMatchObject([{ version: readVersion() }])
})
