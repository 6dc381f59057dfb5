import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { contentsIn, documentRequest, placedIn } from './placed-blocks.ts'
import { startRawEngineDouble } from './raw-engine-double.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

type Chat = { messages: { role: string; content: string }[] }

let doubles: RecordingEngineDouble[]
let proxy: RunningProxy

beforeEach(async () => {
  doubles = [await startRecordingEngineDouble(), await startRecordingEngineDouble()]
  const engines = doubles.map(({ url }, i) => ({ url, kind: 'vllm' as const, id: `gpu-${i}` }))
  proxy = await startTestProxy(undefined, { engines })
})
afterEach(async () => {
  await proxy.close()
  await Promise.all(doubles.map(({ close }) => close()))
})

async function ask(body: object): Promise<string | null> {
  const response = await postJson(`${proxy.url}/v1/chat/completions`, body)
  await response.text()
  expect(response.status).toBe(200)
  return response.headers.get('x-reprise-replica')
}

async function onlyOn(place: number): Promise<void> {
  await postJson(`${proxy.adminUrl}/v1/replicas/gpu-${1 - place}/drain`, {})
  await postJson(`${proxy.adminUrl}/v1/replicas/gpu-${place}/resume`, {})
}

test('a request that its replica never got is ordered anew for the one that runs it, and stays so', async () => {
  await onlyOn(0)
  await ask(documentRequest('q1', 'ABCD'))
  await onlyOn(1)
  await ask(documentRequest('q2', 'CBA'))
  await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/resume`, {})
  // the replica that holds most of the next request is gone
  await doubles[0]!.close()
  const turns = documentRequest('q3', 'DCBA') as Chat
  expect(await ask(turns)).toBe('gpu-1')
  const sent = contentsIn(doubles[1]!.requests.at(-1))
  expect(placedIn(doubles[1]!.requests.at(-1))).toBe('CBAD')

  turns.messages.push({ role: 'assistant', content: 'answer' }, { role: 'user', content: 'and now?' })
  await ask(turns)
  expect(contentsIn(doubles[1]!.requests.at(-1)).slice(0, sent.length)).toEqual(sent)
  doubles[0] = await startRecordingEngineDouble(doubles[0]!.port)
})

test('a request that an engine may have begun with is sent again as it was, whatever has been forgotten since', async () => {
  const seen: Buffer[] = []
  const raw = await startRawEngineDouble({
    onRequest: (socket, _head, body) => {
      seen.push(body)
      socket.resetAndDestroy()
    },
  })
  await proxy.close()
  proxy = await startTestProxy({ url: raw.url, kind: 'vllm' })
  const send = (question: string, names: string): Promise<Response> =>
    postJson(`${proxy.url}/v1/chat/completions`, documentRequest(question, names))
  raw.behave({ onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}') })
  expect((await send('q1', 'ABC')).status).toBe(200)
  raw.behave({
    onRequest: (socket, _head, body) => {
      seen.push(body)
      socket.resetAndDestroy()
    },
  })
  expect((await send('q2', 'CBA')).status).toBe(502)
  await fetch(`${proxy.adminUrl}/v1/index`, { method: 'DELETE' })
  expect((await send('q2', 'CBA')).status).toBe(502)
  const orders = seen.map((body) => placedIn({ body } as never))
  expect(orders).toEqual(['ABC', 'ABC'])
  await raw.close()
})
