import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Emulator, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { findFreePort } from './demo/find-free-port.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

let emulator: Emulator
let proxy: RunningProxy

afterEach(async () => {
  await proxy.close()
  await emulator.close()
})

interface MirrorState {
  readonly mode: string
  readonly divergence_by: { readonly stale_index: number; readonly tokenisation: number } | null
}

async function mirror(): Promise<MirrorState> {
  const { replicas } = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as { replicas: MirrorState[] }
  return replicas[0]!
}

/** Starts an emulator that reports to the proxy, with a cache for about six of the prompts below. */
async function start(kind: 'vllm' | 'sglang', prefillTokensPerSecond = 20_000): Promise<void> {
  const port = await findFreePort()
  proxy = await startTestProxy({ url: `http://127.0.0.1:${port}`, kind, id: 'gpu-0' })
  const callbackUrl = `${proxy.adminUrl}/v1/replicas/gpu-0`
  const host = '127.0.0.1'
  emulator = await startEmulator({
    host,
    port,
    kind,
    capacityTokens: 6_000,
    prefillTokensPerSecond,
    callbackUrl,
  })
  await vi.waitFor(async () => expect((await mirror()).mode).toBe('exact'), { timeout: 5_000 })
  // predictions are exact once the engine has reported its page size
  const isExact = async (): Promise<void> => {
    const { predicted, cached } = await ask('Warm?', ['warm '.repeat(100)], false)
    expect(cached).toBeGreaterThan(50)
    expect(predicted).toBe(cached)
  }
  await vi.waitFor(isExact, { timeout: 10_000, interval: 100 })
}

/** Yields pseudo-random numbers that are the same every time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 48_271) % 2_147_483_647
    yield state / 2_147_483_647
  }
}

const words = 'alpha river Ünicode 42 the of retrieval, engine; "cache" block — token\n'.split(' ')

/** Returns texts of 20 to 220 words that begin alike, so that prompts diverge in the middle of a page. */
function documents(random: Generator<number, never>, count: number): string[] {
  const word = (): string => words[Math.floor(random.next().value * words.length)]!
  return Array.from({ length: count }, (_, i) => {
    const length = 20 + Math.floor(random.next().value * 200)
    return `Title: a document\nNumber ${i} ${Array.from({ length }, word).join(' ')}`
  })
}

async function ask(
  question: string,
  blocks: string[],
  stream: boolean,
): Promise<{ predicted: number; cached: number }> {
  const rest = stream ? { stream, stream_options: { include_usage: true } } : {}
  const response = await postJson(`${proxy.url}/v1/chat/completions`, ragRequest(question, blocks, rest))
  expect(response.status).toBe(200)
  const cached = /"cached_tokens":(\d+)/.exec(await response.text())?.[1]
  return { predicted: Number(response.headers.get('x-reprise-predicted-cached-tokens')), cached: Number(cached ?? 0) }
}

async function askAll(
  count: number,
  atOnce: number,
  stream: boolean,
): Promise<{ predicted: number; cached: number }[]> {
  const random = numbers(7)
  const texts = documents(random, 12)
  const prompts = Array.from({ length: count }, () => texts.filter(() => random.next().value < 0.5))
  const answers: { predicted: number; cached: number }[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) answers.push(await ask(`Question ${i}?`, prompts[i]!, stream))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return answers
}

test.each(['vllm', 'sglang'] as const)(
  'a conversation is found up to the end of the last answer (%s)',
  async (kind) => {
    await start(kind)
    const messages: { role: string; content: string }[] = []
    for (let turn = 0; turn < 4; turn++) {
      messages.push({ role: 'user', content: `Question ${turn}: ${'why and how '.repeat(30)}?` })
      const response = await postJson(`${proxy.url}/v1/chat/completions`, { model: 'm', messages, max_tokens: 100 })
      const answer = (await response.json()) as {
        choices: [{ message: { role: string; content: string } }]
        usage: { prompt_tokens: number; prompt_tokens_details?: { cached_tokens: number } | null }
      }
      const cached = answer.usage.prompt_tokens_details?.cached_tokens ?? 0
      expect(Number(response.headers.get('x-reprise-predicted-cached-tokens'))).toBe(cached)
      if (turn > 0) expect(cached).toBeGreaterThan(answer.usage.prompt_tokens - 120)
      messages.push(answer.choices[0].message)
    }
  },
)

test('an engine that begins its answer and is silent then keeps nobody waiting for the head', async () => {
  await start('vllm', 1_000)
  // the head arrives at once, but the prefill takes seconds
  const answer = fetch(`${proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ragRequest('Long?', ['long '.repeat(4_000)], { stream: true })),
  })
  const reader = (await answer).body!.getReader()
  const first = reader.read().then(() => 'content' as const)
  expect(await Promise.race([first, delay(500, 'nothing yet' as const)])).toBe('nothing yet')
  await reader.cancel()
})

describe.each(['vllm', 'sglang'] as const)('of an engine that reports to us (%s)', (kind) => {
  test.each([
    ['one at a time', 50, 1, false],
    ['four at a time', 100, 4, false],
    ['four streams at a time', 100, 4, true],
  ])('the cached tokens are predicted to the token: %s', async (_title, count, atOnce, stream) => {
    await start(kind)
    const answers = await askAll(count, atOnce, stream)
    const wrong = answers.filter(({ predicted, cached }) => predicted !== cached)
    expect(answers.filter(({ cached }) => cached > 100).length).toBeGreaterThan(count / 5)
    expect(wrong.slice(0, wrong.length > 1 ? 10 : 0)).toEqual([])
    if (wrong.length === 0) expect((await mirror()).divergence_by).toMatchObject({ stale_index: 0, routing: 0 })
  })
})
