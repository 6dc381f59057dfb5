import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { askCacheSize } from '#engine-adapters/cache-config.ts'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import { createEngineClient } from '#engine-adapters/engine-client.ts'
import { type Emulator, emulatorDefaults, startEmulator } from './emulator.ts'

const ends: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function ask(url: string, kind: EngineKind, milliseconds = 10_000, apiKey?: string): Promise<unknown> {
  const engine = createEngineClient(url)
  try {
    return await askCacheSize(engine, adapterFor(kind), { apiKey, signal: AbortSignal.timeout(milliseconds) })
  } finally {
    await engine.close()
  }
}

async function emulate(kind: 'vllm' | 'sglang', capacityTokens: number, blockSize: number): Promise<Emulator> {
  const place = { host: '127.0.0.1', port: 0 }
  const emulator = await startEmulator({ ...emulatorDefaults, ...place, kind, capacityTokens, blockSize })
  ends.push(() => emulator.close())
  return emulator
}

/** A server that answers by path: a status and a text, or nothing at all. */
async function serve(pages: Record<string, [number, string] | 'silence'>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server: Server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? '-'}`)
    const page = pages[request.url!] ?? [404, '']
    if (page !== 'silence') response.writeHead(page[0]).end(page[1])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe('behind the emulator', () => {
  test.each(['vllm', 'sglang'] as const)('%s says how large its pages are and what it holds', async (kind) => {
    const { url } = await emulate(kind, 1600, 16)
    expect(await ask(url, kind)).toEqual({ pageTokens: 16, capacityTokens: 1600 })
  })

  test.each(['vllm', 'sglang'] as const)(
    'of a cache without bounds %s says only the size of its pages',
    async (kind) => {
      const { url } = await emulate(kind, Number.POSITIVE_INFINITY, 8)
      expect(await ask(url, kind)).toEqual({ pageTokens: 8, capacityTokens: undefined })
    },
  )
})

test('an older SGLang is asked at its own path, with the key', async () => {
  const info = JSON.stringify({ page_size: 1, max_total_num_tokens: 99 })
  const { url, asked } = await serve({ '/get_server_info': [200, info] })
  expect(await ask(url, 'sglang', 10_000, 'secret')).toEqual({ pageTokens: 1, capacityTokens: 99 })
  expect(asked).toEqual(['/server_info Bearer secret', '/get_server_info Bearer secret'])
})

test('an engine of which nothing is known is not asked', async () => {
  const { url, asked } = await serve({})
  expect(await ask(url, 'openai')).toBeUndefined()
  expect(asked).toEqual([])
})

test.each([
  ['an error', [500, 'vllm:cache_config_info{block_size="16"} 1.0'] as [number, string]],
  ['another page', [200, '<html>'] as [number, string]],
  ['silence', 'silence' as const],
])('%s is no answer, and no fault', async (_what, page) => {
  const { url } = await serve({ '/metrics': page, '/server_info': page })
  expect(await ask(url, 'vllm', 200)).toBeUndefined()
  expect(await ask(url, 'sglang', 200)).toBeUndefined()
  expect(await ask('http://127.0.0.1:1', 'vllm', 200)).toBeUndefined()
})
