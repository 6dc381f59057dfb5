import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  findExchange,
  isComplete,
  type Recording,
  readRecordings,
} from '#engine-adapters/recorder/read-recorded.fixture.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

const [vllm, sglang] = (['vllm', 'sglang'] as const).map(
  (kind) => readRecordings().find((recording) => recording.engine === kind && isComplete(recording))!,
) as [Recording, Recording]

let engine: RecordingEngineDouble
let proxy: RunningProxy | undefined

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
})

afterEach(async () => {
  await proxy?.close()
  proxy = undefined
  await engine.close()
})

/**
 * Sends a streamed /generate with blocks, to which the engine replays a recording. Also returns the mirror's requests.
 */
async function generate(recorded: string): Promise<{ text: string; requests: number }> {
  const { status, headers, body } = findExchange(sglang, recorded).answer
  engine.answer((response) => response.writeHead(status, { ...headers }).end(body))
  proxy ??= await startTestProxy({ url: engine.url, kind: 'sglang', id: 'gpu-0' })
  const text = '<document>The ferry leaves at nine.</document>\n<document>Dogs travel free.</document>\n\nWhen?'
  const response = await postJson(`${proxy.url}/generate`, { text, stream: true })
  const answer = await response.text()
  const mirror = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: [{ requests: number }] }
  return { text: answer, requests: mirror.replicas[0].requests }
}

test('a stream that SGLang refuses with 200 reaches the client as it is, and the mirror believes nothing of it', async () => {
  const refused = await generate('fault: streamed, too long a generate')
  expect(refused).toEqual({
    text: findExchange(sglang, 'fault: streamed, too long a generate').answer.body,
    requests: 0,
  })
  expect((await generate('generate, streamed')).requests).toBe(1)
})

test.each([
  [vllm, 0],
  [sglang, 240],
] as const)(
  'cached tokens of several prompts are counted where the engine tells those of all: $engine',
  async (recording, cached) => {
    const { status, headers, body } = findExchange(recording, 'completions of two prompts').answer
    engine.answer((response) => response.writeHead(status, { ...headers }).end(body))
    proxy = await startTestProxy({ url: engine.url, kind: recording.engine, id: 'gpu-0' })
    const prompt = [
      '<document>The ferry leaves at nine.</document>\n<document>Dogs travel free.</document>\n\nWhen?',
      'Hi',
    ]
    await (await postJson(`${proxy.url}/v1/completions`, { model: 'test', prompt })).text()
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    const divergence = /^reprise_mirror_divergence_tokens_count(?:\{[^}]*\})? (\d+)/m.exec(metrics)?.[1]
    expect(metrics).toMatch(/^reprise_prompt_tokens_total(?:\{[^}]*\})? 251$/m)
    expect(/^reprise_cached_tokens_total\{[^}]*\} (\d+)/m.exec(metrics)?.[1] ?? '0').toBe(String(cached))
    expect(divergence).toBe(cached === 0 ? '0' : '1')
  },
)
