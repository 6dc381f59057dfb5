import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CacheReport } from '#emulator/cache/request-ledger.ts'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import { FakeReceiver } from '#emulator/fake-receiver.fixture.ts'
import { reusing } from './reusing-cache.ts'

const documents = ['Paris', 'Rome', 'Oslo'].map((city) => `All that is known of ${city}, said again. `.repeat(40))
const [paris, rome, oslo] = documents as [string, string, string]

interface Details {
  cached_tokens: number
  reused_tokens?: number
}

describe('an emulator that reuses KV at any position', () => {
  let emulator: Emulator
  let receiver: FakeReceiver

  beforeEach(async () => {
    receiver = new FakeReceiver()
    await receiver.start()
    const fast = { host: '127.0.0.1', port: 0, capacityTokens: 100_000, prefillTokensPerSecond: 1e9 }
    emulator = await startEmulator({
      ...fast,
      kind: 'vllm',
      ...reusing(0.15, { min_ratio: 0.1, max_ratio: 0.4 }),
      callbackUrl: receiver.url,
    })
  })
  afterEach(async () => {
    await emulator.close()
    await receiver.stop()
  })

  async function ask(content: string, more: object = {}): Promise<Details> {
    const body = { messages: [{ role: 'user', content }], max_tokens: 2, ...more }
    const response = await fetch(`${emulator.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(200)
    const text = await response.text()
    const json = text.startsWith('data: ') ? text.split('\n\n').at(-3)!.slice(6) : text
    return (JSON.parse(json) as { usage: { prompt_tokens_details: Details } }).usage.prompt_tokens_details
  }

  it('reports in usage what is exact and what was reused, in streams too', async () => {
    expect(await ask(paris + rome)).toEqual({ cached_tokens: 0 })
    const { cached_tokens: cached, reused_tokens: reused } = await ask(rome + paris)
    expect(cached).toBe(0)
    const streamed = await ask(oslo + paris, { stream: true, stream_options: { include_usage: true } })
    expect(streamed.reused_tokens).toBeGreaterThan(200)
    expect(reused).toBeGreaterThan(1.9 * streamed.reused_tokens!)
  })

  it('reuses as much as a request wishes, within bounds, and nothing for a wish that is none', async () => {
    await ask(paris + rome)
    const wish = (reuse: unknown) => ({ kv_transfer_params: { other: 1, reprise: { reuse } } })
    const all = (await ask(oslo + rome, wish(0))).reused_tokens!
    expect(await ask(oslo + paris, wish('off'))).not.toHaveProperty('reused_tokens')
    expect((await ask(rome + paris, wish(0.5))).reused_tokens).toBeGreaterThan(0.9 * all)
    expect(await ask(rome + oslo, wish('much'))).not.toHaveProperty('reused_tokens')
    expect((await ask(rome + oslo)).cached_tokens).toBeGreaterThan(1.6 * all)
  })

  it('shares nothing between salts', async () => {
    await ask(paris + rome, { cache_salt: 'red' })
    expect(await ask(oslo + paris, { cache_salt: 'blue' })).not.toHaveProperty('reused_tokens')
    expect((await ask(oslo + paris, { cache_salt: 'red' })).reused_tokens).toBeGreaterThan(200)
  })

  it('says in its snapshot that it can, and in its events what it did', async () => {
    await ask(paris + rome)
    await ask(rome + paris)
    await vi.waitFor(() => expect(receiver.posts.flatMap(({ body }) => body.events ?? [])).toHaveLength(2))
    expect(receiver.posts[0]?.body.reuse).toEqual({ ratio: 0.15, min_ratio: 0.1, max_ratio: 0.4 })
    const [first, second] = receiver.posts.flatMap(({ body }) => body.events ?? [])
    expect(first).not.toHaveProperty('reused_tokens')
    expect(second).toMatchObject({ type: 'stored', cached_tokens: 0 })
    const { reused_tokens: kept, recomputed_tokens: again } = second as Extract<CacheReport, { type: 'stored' }>
    expect(again! / (kept! + again!)).toBeCloseTo(0.15, 2)
  })
})
