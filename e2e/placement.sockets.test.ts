import { afterEach, expect, test } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { Config } from '#proxy/config/config.ts'
import { answerPlainly, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

const behind_history = ['\nContext:\n[CONTEXT 0]:\n']
const hygiene = { sort_tools: false, behind_history }

/** The messages of a conversation as AnythingLLM sends them: what is retrieved for each question is in the system message. */
function messagesOf(turn: number): { role: string; content: string }[] {
  const texts = Array.from({ length: 4 }, (_, i) => `Passage ${turn}.${i} `.repeat(40))
  const context = texts.map((text, i) => `[CONTEXT ${i}]:\n${text}\n[END CONTEXT ${i}]\n\n`).join('')
  const history = Array.from({ length: turn }, (_, i) => [
    { role: 'user', content: `Question ${i}: ${'why is it so? '.repeat(20)}` },
    { role: 'assistant', content: `Answer ${i}: ${'because it was. '.repeat(60)}` },
  ]).flat()
  return [
    { role: 'system', content: `You are kind.\nContext:\n${context}` },
    ...history,
    { role: 'user', content: `Question ${turn}: ${'why is it so? '.repeat(20)}` },
  ]
}

/** Cached and all prompt tokens of eight turns, as an engine with vLLM's prefix cache counts them. */
async function converse(config: Partial<Config>): Promise<{ cached: number; prompt: number }> {
  const engine = await startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0 })
  ending.push(() => engine.close())
  const proxy = await startTestProxy({ url: engine.url, kind: 'vllm' }, config)
  ending.push(() => proxy.close())
  const sum = { cached: 0, prompt: 0 }
  for (let turn = 0; turn < 8; turn++) {
    const answer = await postJson(`${proxy.url}/v1/chat/completions`, {
      model: 'm',
      messages: messagesOf(turn),
      max_tokens: 2,
    })
    const { usage } = (await answer.json()) as {
      usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } }
    }
    sum.cached += usage.prompt_tokens_details.cached_tokens
    sum.prompt += usage.prompt_tokens
  }
  return sum
}

test('a conversation whose system message holds what was retrieved reuses its history once that is placed behind it', async () => {
  const left = await converse({})
  const placed = await converse({ hygiene })
  expect(left.cached).toBeLessThan(0.05 * left.prompt)
  expect(placed.cached).toBeGreaterThan(0.3 * placed.prompt)
})

test('nothing is placed without the setting, in modes that rewrite nothing, or if a request forbids it', async () => {
  const engine = await startRecordingEngineDouble()
  ending.push(() => engine.close())
  const body = JSON.stringify({ model: 'm', messages: messagesOf(2) })
  const sentBy = async (config: Partial<Config>, own = body, headers: Record<string, string> = {}): Promise<string> => {
    const proxy = await startTestProxy({ url: engine.url }, config)
    await (await postJson(`${proxy.url}/v1/chat/completions`, own, { headers })).text()
    await proxy.close()
    return engine.requests.at(-1)!.body.toString()
  }
  expect(await sentBy({})).toBe(body)
  expect(await sentBy({ hygiene, mode: 'off' })).toBe(body)
  expect(await sentBy({ hygiene, mode: 'shadow' })).toBe(body)
  expect(await sentBy({ hygiene }, body, { 'x-reprise-options': 'reorder=off' })).toBe(body)
  const measured = JSON.stringify({ ...JSON.parse(body), prompt_logprobs: 1 })
  expect(await sentBy({ hygiene }, measured)).toBe(measured)
  const once = await sentBy({ hygiene, mode: 'auto' })
  expect(once).not.toBe(body)
  // the same turn again is the same prompt again, whatever came between
  expect(await sentBy({ hygiene, mode: 'auto' })).toBe(once)
})

test.each([{}, { 'x-reprise-options': 'order=3.2.1.0' }])(
  'a placed prompt that the engine refuses goes as received (%o)',
  async (headers) => {
    const engine = await startRecordingEngineDouble()
    ending.push(() => engine.close())
    const [received, other] = [2, 1].map((turn) => JSON.stringify({ model: 'm', messages: messagesOf(turn) }))
    engine.answer((response, { body }) => {
      if (body.toString() === received) return answerPlainly(response)
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"too long"}}')
    })
    const proxy = await startTestProxy({ url: engine.url }, { hygiene })
    ending.push(() => proxy.close())
    const ask = (body: string) => postJson(`${proxy.url}/v1/chat/completions`, body, { headers })
    const answer = await ask(received!)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-reprise-skipped')).toBe('refused_rewritten')
    expect(engine.requests).toHaveLength(2)
    expect(engine.requests[0]!.body.toString()).not.toBe(received)
    expect(engine.requests[1]!.body.toString()).toBe(received)
    // what is refused as received, too, is the client's to know
    expect((await ask(other!)).status).toBe(400)
    expect(engine.requests).toHaveLength(4)
  },
)
