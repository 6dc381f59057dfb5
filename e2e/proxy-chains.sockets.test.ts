import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { EngineConfig } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const proxies: RunningProxy[] = []
afterEach(async () => {
  for (const proxy of proxies.splice(0).reverse()) await proxy.close()
})

async function start(engine?: Partial<EngineConfig> & { url: string }, port = 0): Promise<RunningProxy> {
  const proxy = await startTestProxy(engine, { listen: `127.0.0.1:${port}` })
  proxies.push(proxy)
  return proxy
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const ask = (proxy: RunningProxy, headers: Record<string, string> = {}): Promise<Response> =>
  postJson(`${proxy.url}/v1/chat/completions`, ragRequest('q', ['a', 'b'], { max_tokens: 4 }), { headers })

test('a proxy behind a proxy answers', async () => {
  const behind = await start()
  const answer = await ask(await start({ url: behind.url, kind: 'vllm' }))
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ object: 'chat.completion' })])
})

test.each(['/v1/chat/completions', '/v1/embeddings', '/v1/messages'])(
  'an engine that is the proxy itself ends in an error that says so: %s',
  async (path) => {
    const port = await freePort()
    const proxy = await start({ url: `http://127.0.0.1:${port}`, kind: 'vllm' }, port)
    const answer = await postJson(`${proxy.url}${path}`, ragRequest('q', ['a', 'b']))
    expect(answer.status).toBe(508)
    expect(await errorOf(answer)).toMatchObject({ code: 'loop_detected', message: expect.stringMatching(/leads back/) })
  },
)

test('and so do proxies in a circle, whatever a client says of its way', async () => {
  const ports = [await freePort(), await freePort()] as const
  await start({ url: `http://127.0.0.1:${ports[0]}` }, ports[1])
  const proxy = await start({ url: `http://127.0.0.1:${ports[1]}` }, ports[0])
  for (const hops of ['', '-7', 'none', '1e999', '1.5']) {
    const answer = await ask(proxy, hops === '' ? {} : { 'x-reprise-hops': hops })
    expect([answer.status, (await errorOf(answer)).code]).toEqual([508, 'loop_detected'])
  }
})
