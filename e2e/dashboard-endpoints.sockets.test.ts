import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

/** A non-loopback address of this machine, if it has one. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

let proxy: RunningProxy | undefined
const engines: RecordingEngineDouble[] = []

afterEach(async () => {
  await proxy?.close()
  proxy = undefined
  for (const engine of engines.splice(0)) await engine.close()
})

async function start(...names: string[]): Promise<RunningProxy> {
  for (const _ of names) engines.push(await startRecordingEngineDouble())
  const list = names.map((id, i) => ({ url: engines[i]!.url, kind: 'vllm' as const, id }))
  proxy = await startTestProxy(undefined, { engines: list })
  return proxy
}

const get = async (path: string): Promise<unknown> => (await fetch(`${proxy!.adminUrl}${path}`)).json()
const send = async (...blocks: string[]): Promise<void> => {
  await (await postJson(`${proxy!.url}/v1/chat/completions`, ragRequest('q', blocks))).text()
}

describe('the index', () => {
  test('tells its size, height, nodes and memory, and the hottest blocks by id', async () => {
    await start('gpu-0')
    expect(await get('/v1/index')).toMatchObject({ size: 0, height: 0, nodes: 0, top_blocks: [] })
    await send('a'.repeat(100), 'b'.repeat(200))
    await send('a'.repeat(100), 'c'.repeat(300))
    const index = (await get('/v1/index')) as { memory: number; top_blocks: { id: string; count: number }[] }
    expect(index).toMatchObject({ size: 2, height: 2, nodes: 3, requests: 2, contexts: 2 })
    expect(index.memory).toBeGreaterThan(1_000)
    expect(index.top_blocks.map(({ count }) => count)).toEqual([2, 1, 1])
    expect(JSON.stringify(index)).not.toContain('aaa')
  })

  test('is cleared in every replica', async () => {
    await start('gpu-0', 'gpu-1')
    await send('a', 'b')
    expect(await get('/v1/index')).toMatchObject({ size: 1 })
    await fetch(`${proxy!.adminUrl}/v1/index`, { method: 'DELETE' })
    expect(await get('/v1/index')).toMatchObject({ size: 0, nodes: 0, top_blocks: [] })
  })
})

describe('an explanation', () => {
  test.each<[what: string, body: string, sent: unknown]>([
    ['a list', '[1,{"a":"b"}]', [1, { a: 'b' }]],
    ['behind a byte order mark', '\uFEFF{"messages":[]}', { messages: [] }],
  ])('has the body as the JSON that it is: %s', async (_what, body, sent) => {
    await start('gpu-0')
    const response = await postJson(`${proxy!.adminUrl}/v1/explain`, body)
    expect(await response.json()).toMatchObject({ skipped: 'unexpected_shape', body: sent })
  })
})

describe('replicas', () => {
  test('are listed each by itself, and each takes its own events', async () => {
    await start('gpu-0', 'gpu-1')
    const path = `${proxy!.adminUrl}/v1/replicas/gpu-1/snapshot`
    await postJson(path, { generation: 'g', sequence: 4, requests: [] })
    const { replicas } = (await get('/v1/mirror')) as { replicas: unknown[] }
    expect(replicas).toMatchObject([
      { replica: 'gpu-0', url: expect.any(String), mode: 'fallback', sequence: 0, in_flight: 0, divergence: null },
      { replica: 'gpu-1', mode: 'exact', generation: 'g', sequence: 4 },
    ])
    const metrics = await (await fetch(`${proxy!.adminUrl}/metrics`)).text()
    expect(metrics).toContain('reprise_mirror_mode{replica="gpu-0"} 0')
    expect(metrics).toContain('reprise_mirror_mode{replica="gpu-1"} 2')
  })

  test('that are not known are 404 whatever is asked of them', async () => {
    await start('gpu-0')
    for (const path of ['events', 'snapshot', 'drain', 'resume']) {
      const response = await postJson(`${proxy!.adminUrl}/v1/replicas/other/${path}`, {})
      expect(response.status).toBe(404)
      expect((await errorOf(response)).message).toContain("'other'")
    }
  })
})

describe('the page', () => {
  test('is one document that may run nothing but its own script and ask nothing but this server', async () => {
    await start('gpu-0')
    const response = await fetch(`${proxy!.adminUrl}/`)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'/,
    )
    expect(await response.text()).toMatch(/^<!doctype html>/)
  })

  test.skipIf(outside === undefined)('opens from another machine too, but its figures need the token', async () => {
    proxy = await startTestProxy(undefined, { admin: { listen: '0.0.0.0:0', token: 'let me in' } })
    const there = `http://${outside}:${new URL(proxy.adminUrl).port}`
    const statusOf = async (path: string, token?: string): Promise<number> => {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return (await fetch(`${there}${path}`, { headers })).status
    }
    for (const path of ['/', '/healthz', '/readyz']) expect(await statusOf(path)).toBe(200)
    for (const path of ['/v1/stats', '/v1/index', '/v1/mirror', '/metrics']) {
      expect(await statusOf(path)).toBe(401)
      expect(await statusOf(path, 'let me')).toBe(401)
      expect(await statusOf(path, 'let me in')).toBe(200)
    }
  })
})
