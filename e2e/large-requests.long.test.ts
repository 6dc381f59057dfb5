import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { stallShapes } from './bench/stall-shapes.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { type RunningReprise, startReprise } from './start-reprise.ts'
import { errorOf, postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let engine: RecordingEngineDouble
let reprise: RunningReprise

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  reprise = await startReprise(['--engine', `${engine.url},kind=vllm`])
})
afterEach(async () => {
  reprise.child.kill('SIGKILL')
  await engine.close()
})

const headers = { 'content-type': 'application/json' }

async function metric(line: string): Promise<number> {
  const text = await (await fetch(`${reprise.adminUrl}/metrics`)).text()
  return Number(
    text
      .split('\n')
      .find((own) => own.startsWith(`${line} `))
      ?.slice(line.length + 1) ?? 0,
  )
}

/** Returns how many consecutive health checks succeed while a request is in flight. */
async function aliveWhile(answer: Promise<unknown>): Promise<number> {
  let isOver = false
  const over = answer.finally(() => {
    isOver = true
  })
  let count = 0
  while (!isOver) {
    const { status } = await fetch(`${reprise.adminUrl}/healthz`)
    if (!isOver && status === 200) count += 1
  }
  await over
  return count
}

test('a request of a million messages holds up no other, and goes to the engine as it came, with its tenant’s salt', async () => {
  const body = stallShapes['tiny messages']!(33_000_000)
  const answer = fetch(`${reprise.url}/v1/chat/completions`, { method: 'POST', headers, body: new Uint8Array(body) })
  // if reading the body blocked the proxy, only one or two checks would succeed
  expect(await aliveWhile(answer)).toBeGreaterThan(20)
  const { status, headers: got } = await answer
  expect(status).toBe(200)
  expect(got.get('x-reprise-skipped')).toBe('too_large_to_rewrite')
  const sent = engine.requests.at(-1)!.body
  const [, salt] = /^\{"cache_salt":"([\w-]{43})",/.exec(sent.toString('utf8', 0, 100))!
  expect(sent.equals(Buffer.from(`{"cache_salt":"${salt}",${body.toString('utf8', 1)}`))).toBe(true)
  expect(await metric('reprise_fail_open_total{reason="too_large_to_rewrite"}')).toBe(1)
})

test('the salt is the tenant’s, whatever the body says, and equal to that of its other requests', async () => {
  await postJson(`${reprise.url}/v1/chat/completions`, ragRequest('?', ['a', 'b']))
  const { cache_salt: salt } = JSON.parse(engine.requests.at(-1)!.body.toString())
  const body = `{"messages":[{"role":"user","content":"${'a'.repeat(9_000_000)}"}],"cache_salt":7}`
  await postJson(`${reprise.url}/v1/chat/completions`, body)
  const sent = JSON.parse(engine.requests.at(-1)!.body.toString())
  expect(sent.cache_salt).toBe(salt)
  expect({ ...sent, cache_salt: 7 }).toEqual(JSON.parse(body))
})

test('the mirror knows what space a request takes that was not read, and that it is the same again', async () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'word '.repeat(2_000_000) }] }
  const ask = async (): Promise<string | null> =>
    (await postJson(`${reprise.url}/v1/chat/completions`, body)).headers.get('x-reprise-predicted-cached-tokens')
  expect(await ask()).toBe('0')
  const { replicas } = (await (await fetch(`${reprise.adminUrl}/v1/mirror`)).json()) as { replicas: object[] }
  expect(replicas[0]).toMatchObject({ requests: 1 })
  expect(Number(await ask())).toBeGreaterThan(0)
})

test('a body whose end is missing is refused, and blocks beside one that is too large are not lost unseen', async () => {
  const torn = await postJson(`${reprise.url}/v1/chat/completions`, `{"messages":"${'a'.repeat(9_000_000)}`)
  expect([torn.status, (await errorOf(torn)).code]).toEqual([400, 'invalid_body'])
  const explicit = { ...ragRequest('?', []), reprise: { blocks: [{ text: 'a'.repeat(9_000_000) }] } }
  const refused = await postJson(`${reprise.url}/v1/chat/completions`, explicit)
  expect([refused.status, (await errorOf(refused)).code]).toEqual([413, 'body_too_large'])
  expect(engine.requests).toEqual([])
})

test('bodies in flight together are bounded, and what they took is given back', async () => {
  reprise.child.kill('SIGKILL')
  const limits = { body_bytes: 20_000_000 }
  const proxy = await startTestProxy({ url: engine.url, kind: 'vllm' }, { limits, bodyMemoryBytes: 20_000_000 })
  onTestFinished(() => proxy.close())
  reprise = { ...reprise, ...proxy }
  // two tenants, because one alone may take only half of the memory
  const half = await Promise.all([sendHalf(18_000_000, 'one'), sendHalf(10, 'other')])
  const body = `{"messages":[{"role":"user","content":"${'a'.repeat(9_000_000)}"}]}`
  const refused = await postJson(`${reprise.url}/v1/chat/completions`, body)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect((await errorOf(refused)).code).toBe('queue_full')
  for (const { destroy } of half) destroy()
  // retry until the proxy has noticed that they left
  let status = 429
  while (status === 429) status = (await postJson(`${reprise.url}/v1/chat/completions`, body)).status
  expect(status).toBe(200)
  for (let i = 0; i < 5; i++) expect((await postJson(`${reprise.url}/v1/chat/completions`, body)).status).toBe(200)
  expect(await metric('reprise_body_bytes')).toBe(0)
})

/** Sends all but the last byte of a request, and waits until the proxy has received it. */
async function sendHalf(bytes: number, bearer: string): Promise<{ destroy(): void }> {
  const request = httpRequest(`${reprise.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${bearer}`, 'content-length': bytes + 1 },
  })
  request.on('error', () => {})
  await new Promise<void>((resolve) => request.write(Buffer.alloc(bytes, ' '), () => resolve()))
  while ((await metric('reprise_body_bytes')) < bytes) await new Promise((resolve) => setImmediate(resolve))
  return { destroy: () => request.destroy() }
}
