import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI, { NotFoundError } from 'openai'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { EngineConfig } from '#proxy/config/config.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { type EmbedderDouble, startEmbedderDouble } from './embedder-double.ts'
import { documentRequest } from './placed-blocks.ts'
import { errorOf, type Overrides, postJson, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

async function startModel(model: string): Promise<Emulator> {
  const emulator = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0, model })
  ending.push(() => emulator.close())
  return emulator
}

async function start(engines: readonly EngineConfig[], config: Overrides = {}): Promise<RunningProxy> {
  const proxy = await startTestProxy(undefined, { engines, ...config })
  ending.push(() => proxy.close())
  return proxy
}

const chat = (proxy: RunningProxy, model: string | undefined, names = 'ABC', question = 'q'): Promise<Response> =>
  postJson(`${proxy.url}/v1/chat/completions`, {
    ...(documentRequest(question, names) as object),
    model,
    max_tokens: 64,
  })

async function replicaOf(answer: Response): Promise<[number, string | null, string]> {
  const { model = '' } = (await answer.json()) as { model?: string }
  return [answer.status, answer.headers.get('x-reprise-replica'), model]
}

describe('two models and an embedder behind one proxy', () => {
  let proxy: RunningProxy
  let embedder: EmbedderDouble
  let client: OpenAI

  beforeEach(async () => {
    const [big, small] = [await startModel('big'), await startModel('small')]
    embedder = await startEmbedderDouble()
    ending.push(async () => embedder.close())
    proxy = await start(
      [
        { url: big.url, kind: 'vllm', id: 'big-0' },
        { url: small.url, kind: 'vllm', id: 'small-0' },
        { url: embedder.url, kind: 'openai', id: 'embedder-0' },
      ],
      { aliases: [{ name: 'gpt-4o', models: ['absent', 'small'] }] },
    )
    client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'sk-x', maxRetries: 0 })
  })

  test('each request of the OpenAI SDK reaches the engine of its model', async () => {
    for (const model of ['big', 'small', 'big', 'big']) {
      const { data, response } = await client.chat.completions
        .create({ model, max_tokens: 4, messages: [{ role: 'user', content: 'hello' }] })
        .withResponse()
      expect([data.model, response.headers.get('x-reprise-replica')]).toEqual([model, `${model}-0`])
    }
    await client.embeddings.create({ model: 'embedder', input: ['a text', 'another'] })
    const { path, body } = embedder.received.at(-1)!
    expect([path, JSON.parse(body.toString())]).toMatchObject(['/v1/embeddings', { input: ['a text', 'another'] }])
    await postJson(`${proxy.url}/v1/rerank`, { query: 'q', documents: ['x'.repeat(200_000), 'y'], model: 'embedder' })
    expect(embedder.received.map((one) => one.path)).toEqual(['/v1/embeddings', '/v1/rerank'])
    const stream = await client.completions.create({ model: 'small', max_tokens: 4, prompt: 'go on', stream: true })
    for await (const chunk of stream) expect(chunk.model).toBe('small')
  })

  test('what passes through is the same to the byte, and forms with files are routed, too', async () => {
    const odd = '{ "model" : "emb\\u0065dder",\n "input": ["\\ud83d\\ude00", 1.10] }'
    await postJson(`${proxy.url}/v1/embeddings`, odd)
    expect(embedder.received.at(-1)!.body.toString()).toBe(odd)
    const form = new FormData()
    form.set('file', new File([Buffer.alloc(100_000, 7)], 'a.wav'))
    form.set('model', 'embedder')
    expect((await fetch(`${proxy.url}/v1/audio/transcriptions`, { method: 'POST', body: form })).status).toBe(200)
    expect(embedder.received.at(-1)!.body.length).toBeGreaterThan(100_000)
  })

  test('a query names the model where the body does not, and JSON is read whatever it is called', async () => {
    const post = async (path: string, type: string, body: string): Promise<number> =>
      (await postJson(`${proxy.url}${path}`, body, { headers: { 'content-type': type } })).status
    const json = 'application/json'
    expect(await post('/v1/rerank?model=embedder', json, '{"query":"q"}')).toBe(200)
    expect(await post('/v1/rerank?model=embedder', 'application/octet-stream', 'x')).toBe(200)
    expect(await post('/v1/rerank?model=big', json, '{"model":"embedder"}')).toBe(200)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/plain;charset=UTF-8'])
      expect(await post('/v1/rerank', type, '{"model":"embedder"}')).toBe(200)
    expect(embedder.received.length).toBe(6)
    // no address, but a target that the engine may answer
    expect(await post('//', json, '{"model":"embedder"}')).toBe(200)
  })

  test('a model’s name that is too long is refused, on every path', async () => {
    const model = 'm'.repeat(5_000)
    const large = { model, messages: [{ role: 'user', content: 'a<b\n'.repeat(2_000_000) }] }
    for (const [path, body] of [
      ['/v1/rerank', { model }],
      ['/v1/chat/completions', large],
    ] as const) {
      const answer = await postJson(`${proxy.url}${path}`, body)
      expect([answer.status, (await errorOf(answer)).code]).toEqual([400, 'invalid_body'])
    }
  })

  test('all models are listed, each in the words of its engine, and each can be asked for', async () => {
    const listed = await client.models.list()
    expect(listed.data.map(({ id }) => id)).toEqual(['big', 'small', 'embedder', 'gpt-4o'])
    expect(listed.data[0]).toMatchObject({ max_model_len: 131_072 })
    expect(await client.models.retrieve('embedder')).toMatchObject({ owned_by: 'infinity', stats: { x: 1 } })
    await expect(client.models.retrieve('none')).rejects.toBeInstanceOf(NotFoundError)
    const { replicas } = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: object[] }
    expect(replicas).toMatchObject([{ models: ['big'] }, { models: ['small'] }, { models: ['embedder'] }])
  })

  test('a model that nobody serves is refused in the shape of the API, and no engine hears of it', async () => {
    const unknown = client.chat.completions.create({ model: 'none', messages: [{ role: 'user', content: 'x' }] })
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
      message: expect.stringContaining("'none' is not served here") as string,
    })
    await expect(client.embeddings.create({ model: 'none', input: 'x' })).rejects.toBeInstanceOf(NotFoundError)
    const messages = await postJson(`${proxy.url}/v1/messages`, {
      model: 'none',
      max_tokens: 4,
      messages: [{ role: 'user', content: 'hi' }],
    })
    expect(messages.status).toBe(404)
    expect(await messages.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'not_found_error',
        code: 'model_not_found',
        message: expect.stringContaining('big, small') as string,
      },
    })
    expect(embedder.received).toEqual([])
  })

  test('a request without a model goes to the first', async () => {
    for (let i = 0; i < 3; i++) expect(await replicaOf(await chat(proxy, undefined))).toEqual([200, 'big-0', 'big'])
    expect((await fetch(`${proxy.url}/version`)).status).toBe(200)
    expect(embedder.received).toEqual([])
  })

  test('a name that stands for others is answered by the first of them that is served', async () => {
    expect(await replicaOf(await chat(proxy, 'gpt-4o'))).toEqual([200, 'small-0', 'small'])
    // it shares its cache with requests that name the model itself
    const answer = await chat(proxy, 'small', 'CBA')
    expect(Number(answer.headers.get('x-reprise-predicted-cached-tokens'))).toBeGreaterThan(100)
  })

  test('what one model has cached is nothing to another', async () => {
    await (await chat(proxy, 'big', 'ABC')).text()
    const other = await chat(proxy, 'small', 'CBA', 'r')
    expect(other.headers.get('x-reprise-moved')).toBe('0')
    const same = await chat(proxy, 'big', 'CBA', 's')
    expect(same.headers.get('x-reprise-moved')).not.toBe('0')
  })

  test('an explanation is made for the engine of the model', async () => {
    const body = { ...(documentRequest('q', 'ABC') as object), model: 'small' }
    const explained = await postJson(`${proxy.adminUrl}/v1/explain`, body)
    expect(await explained.json()).toMatchObject({ replica: 'small-0' })
  })
})

test('a model that an engine has loaded since it was asked is found', async () => {
  const loaded = ['base']
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ data: loaded.map((id) => ({ id, object: 'model', parent: null })), choices: [] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ending.push(async () => void server.close())
  const other = await startModel('other')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const proxy = await start([
    { url: other.url, kind: 'vllm', id: 'other' },
    { url, kind: 'vllm', id: 'base' },
  ])
  expect((await chat(proxy, 'adapter')).status).toBe(404)
  loaded.push('adapter')
  await vi.waitFor(async () => expect((await replicaOf(await chat(proxy, 'adapter')))[1]).toBe('base'), {
    timeout: 20_000,
    interval: 300,
  })
})

/** Starts two models behind one alias, the second as a fall-back. */
async function startBigBeforeSmall(alias: string): Promise<{ proxy: RunningProxy; big: Emulator }> {
  const [big, small] = [await startModel('big'), await startModel('small')]
  const engines: EngineConfig[] = [
    { url: big.url, kind: 'vllm', id: 'big' },
    { url: small.url, kind: 'vllm', id: 'small' },
  ]
  return { big, proxy: await start(engines, { aliases: [{ name: alias, models: ['big', 'small'] }] }) }
}

test('a fall-back answers while no engine of the model is ready', async () => {
  const { proxy } = await startBigBeforeSmall('big')
  expect(await replicaOf(await chat(proxy, 'big'))).toEqual([200, 'big', 'big'])
  await postJson(`${proxy.adminUrl}/v1/replicas/big/drain`, {})
  expect(await replicaOf(await chat(proxy, 'big'))).toEqual([200, 'small', 'small'])
  await postJson(`${proxy.adminUrl}/v1/replicas/big/resume`, {})
  expect(await replicaOf(await chat(proxy, 'big'))).toEqual([200, 'big', 'big'])
})

test('a fall-back answers a request whose engine cannot be reached, before that is known', async () => {
  const { proxy, big } = await startBigBeforeSmall('gpt-4o')
  expect(await replicaOf(await chat(proxy, 'gpt-4o'))).toEqual([200, 'big', 'big'])
  await big.close()
  for (let i = 0; i < 4; i++) expect(await replicaOf(await chat(proxy, 'gpt-4o'))).toEqual([200, 'small', 'small'])
  // who names a model gets no other
  expect((await chat(proxy, 'big')).status).toBe(502)
})

test('an engine that does not list its models gets what no other serves, or what the configuration names', async () => {
  const big = await startModel('big')
  const silent = createServer((incoming, response) => {
    response.writeHead(incoming.url === '/v1/models' ? 404 : 200, { 'content-type': 'application/json' }).end('{}')
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  ending.push(async () => void silent.close())
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const engines: EngineConfig[] = [
    { url: big.url, kind: 'vllm', id: 'big' },
    { url, kind: 'openai', id: 'silent' },
  ]
  const proxy = await start(engines)
  expect((await replicaOf(await chat(proxy, 'anything')))[1]).toBe('silent')
  expect((await replicaOf(await chat(proxy, 'big')))[1]).toBe('big')
  const stated = await start([engines[0]!, { ...engines[1]!, models: ['tei'] }])
  expect((await replicaOf(await chat(stated, 'tei')))[1]).toBe('silent')
  expect((await chat(stated, 'anything')).status).toBe(404)
})

test('the control plane answers while engines are waited for that do not say what they serve', async () => {
  const asked: ServerResponse[] = []
  const mute = createServer((_, response) => void asked.push(response))
  mute.listen(0, '127.0.0.1')
  await once(mute, 'listening')
  ending.push(async () => void mute.close())
  const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`
  const engines: EngineConfig[] = ['a', 'b'].map((id) => ({ url, kind: 'vllm', id }))
  const port = await findFreePort()
  let isReady = false
  const starting = start(engines, { admin: { listen: `127.0.0.1:${port}` } }).then(() => {
    isReady = true
  })
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0))
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  expect(isReady).toBe(false)
  for (const response of asked) response.writeHead(404).end()
  await starting
})

test('engines that serve the same are not told apart: the engine itself refuses an unknown model', async () => {
  const engines = [await startModel('big'), await startModel('big')]
  const proxy = await start(engines.map(({ url }, i) => ({ url, kind: 'vllm', id: `gpu-${i}` })))
  const answer = await chat(proxy, 'none')
  expect(answer.status).toBe(404)
  expect(await answer.json()).toEqual({
    error: { message: 'The model `none` does not exist.', type: 'NotFoundError', param: 'model', code: 404 },
  })
  const [listed, own] = await Promise.all(
    [proxy.url, engines[0]!.url].map(async (url) => (await fetch(`${url}/v1/models`)).text()),
  )
  expect(listed!.replace(/"created":\d+/, '')).toBe(own!.replace(/"created":\d+/, ''))
})
