import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Emulator, emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { contentsIn, documentRequest, longBlock, namesIn } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

interface Message {
  readonly role: string
  readonly content: string
}

interface Answer {
  readonly content: string
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly predictedTokens: number
}

const page = 16
/** what a retriever finds for five questions in a row: every later turn repeats some documents */
const retrieved = ['ABCD', 'CBEA', 'FADG', 'GEHB', 'IHFC']
const system = (documentRequest('', '') as { messages: Message[] }).messages[0]!

function question(turn: number, names: string, words = 'what of it'): Message {
  return (documentRequest(`${words} in turn ${turn}?`, names) as { messages: Message[] }).messages[1]!
}

async function ask(proxy: RunningProxy, messages: readonly Message[]): Promise<Answer> {
  const response = await postJson(`${proxy.url}/v1/chat/completions`, { model: 'm', messages, max_tokens: 24 })
  expect(response.status).toBe(200)
  const { choices, usage } = (await response.json()) as {
    choices: { message: { content: string } }[]
    usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } }
  }
  return {
    content: choices[0]?.message.content ?? 'as the double says',
    promptTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details.cached_tokens,
    predictedTokens: Number(response.headers.get('x-reprise-predicted-cached-tokens')),
  }
}

/** Sends turns of the conversation, each continuing from the ones before. */
async function converse(
  proxy: RunningProxy,
  messages: Message[],
  turns: readonly number[] = [0, 1, 2, 3, 4],
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const turn of turns) {
    messages.push(question(turn, retrieved[turn]!))
    const answer = await ask(proxy, messages)
    messages.push({ role: 'assistant', content: answer.content })
    answers.push(answer)
  }
  return answers
}

describe('a conversation with an engine that caches', () => {
  let emulator: Emulator
  let proxy: RunningProxy

  beforeEach(async () => {
    emulator = await startEmulator({
      ...emulatorDefaults,
      host: '127.0.0.1',
      port: 0,
      prefillTokensPerSecond: 1_000_000,
    })
    proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' })
  })

  afterEach(async () => {
    await proxy.close()
    await emulator.close()
  })

  test('has all of its past cached in every turn, as was predicted to a tenth', async () => {
    // the ratio of characters to tokens is learnt from the engine's answers, an eighth of the way each time
    for (let i = 0; i < 32; i++) await ask(proxy, [{ role: 'system', content: `Another ${i}.` }, question(0, 'ABCD')])
    const messages = [system]
    const answers = await converse(proxy, messages)
    for (const [turn, { promptTokens, cachedTokens, predictedTokens }] of answers.entries()) {
      const before = answers[turn - 1]
      if (before) {
        // the engine caches whole pages only
        expect(cachedTokens).toBeGreaterThanOrEqual(before.promptTokens - page)
        expect(cachedTokens).toBeGreaterThan(before.cachedTokens)
        // the proxy counts characters, the engine tokens
        expect(Math.abs(predictedTokens - cachedTokens)).toBeLessThanOrEqual(page + cachedTokens / 10)
      }
      expect(cachedTokens).toBeLessThan(promptTokens)
    }
    // nine documents of about 190 tokens each, not nineteen
    expect(answers.at(-1)!.promptTokens).toBeLessThan(9 * 230)
  })

  test('has all cached when a request is sent again, and what is before an edit when a turn is edited', async () => {
    const messages = [system]
    const answers = await converse(proxy, messages)
    const again = await ask(proxy, messages.slice(0, -1))
    expect(again.promptTokens).toBe(answers[4]!.promptTokens)
    expect(again.cachedTokens).toBeGreaterThanOrEqual(again.promptTokens - 2 * page)
    // the third question is reworded
    const edited = [...messages.slice(0, 5), question(2, retrieved[2]!, 'what else')]
    const after = await ask(proxy, edited)
    expect(after.cachedTokens).toBeGreaterThanOrEqual(answers[1]!.promptTokens - page)
  })

  test('survives a proxy that is started anew in the middle: from its second turn on all is cached again', async () => {
    const messages = [system]
    await converse(proxy, messages, [0, 1])
    await proxy.close()
    proxy = await startTestProxy({ url: emulator.url, kind: 'vllm' })
    const answers = await converse(proxy, messages, [2, 3, 4])
    for (const [turn, { cachedTokens }] of answers.entries()) {
      const before = answers[turn - 1]
      if (before) expect(cachedTokens).toBeGreaterThanOrEqual(before.promptTokens - page)
    }
  })
})

describe('a conversation as it reaches the engine', () => {
  let engine: RecordingEngineDouble
  let proxy: RunningProxy

  beforeEach(async () => {
    engine = await startRecordingEngineDouble()
    proxy = await startTestProxy({ url: engine.url })
    // the engine holds the same documents in another order, after the same system prompt
    await ask(proxy, [system, question(9, 'DCBA')])
  })

  afterEach(async () => {
    await proxy.close()
    await engine.close()
  })

  const sentLast = (): string[] => contentsIn(engine.requests.at(-1))

  /** Expects every document exactly once, and all other text as the client wrote it. */
  function expectComplete(sent: readonly string[], messages: readonly Message[]): void {
    expect(sent).toHaveLength(messages.length)
    const [whole, received] = [sent.join('\n'), messages.map(({ content }) => content).join('\n')]
    for (const name of 'ABCDEFGHI') {
      const isIn = received.includes(longBlock(name))
      expect(whole.split(longBlock(name)).length - 1).toBe(isIn ? 1 : 0)
    }
    for (const [i, { role, content }] of messages.entries()) {
      if (role === 'user')
        expect(sent[i]).toMatch(new RegExp(`${/Question: .*$/.exec(content)![0].replace('?', '\\?')}$`))
      else expect(sent[i]).toBe(content)
    }
  }

  test('keeps the bytes of every turn that was sent, and is complete', async () => {
    const messages = [system]
    let before: string[] = []
    for (const turn of [0, 1, 2, 3, 4]) {
      await converse(proxy, messages, [turn])
      expect(sentLast().slice(0, before.length)).toEqual(before)
      expectComplete(sentLast(), messages.slice(0, -1))
      before = sentLast()
    }
    // the first turn was sent in the order the engine held
    expect(namesIn(before[1]!)).toBe('DCBA')
    // repeating the request sends the same bytes
    await ask(proxy, messages.slice(0, -1))
    expect(engine.requests.at(-1)!.body).toEqual(engine.requests.at(-2)!.body)
  })

  test('has branches that share all up to where they part', async () => {
    const messages = [system]
    await converse(proxy, messages, [0, 1])
    const shared = sentLast()
    const branches: string[][] = []
    for (const names of ['HGA', 'AGH']) {
      await ask(proxy, [...messages, question(2, names, 'another')])
      branches.push(sentLast())
      expect(sentLast().slice(0, shared.length)).toEqual(shared)
      expectComplete(sentLast(), [...messages, question(2, names, 'another')])
    }
    // back to the first branch, one turn further
    const first = [...messages, question(2, 'HGA', 'another'), { role: 'assistant', content: 'so' }, question(3, 'BI')]
    await ask(proxy, first)
    expect(sentLast().slice(0, branches[0]!.length)).toEqual(branches[0])
  })

  test('whose beginning was cut off keeps what remains complete, and the same from then on', async () => {
    const messages = [system]
    await converse(proxy, messages, [0, 1, 2])
    const cut = [system, ...messages.slice(3)]
    await converse(proxy, cut, [3])
    const before = sentLast()
    expectComplete(before, cut.slice(0, -1))
    await converse(proxy, cut, [4])
    expect(sentLast().slice(0, before.length)).toEqual(before)
    expectComplete(sentLast(), cut.slice(0, -1))
  })

  test('is complete after a restart of the proxy, and the same from then on', async () => {
    const messages = [system]
    await converse(proxy, messages, [0, 1, 2])
    await proxy.close()
    proxy = await startTestProxy({ url: engine.url })
    await converse(proxy, messages, [3])
    const before = sentLast()
    expectComplete(before, messages.slice(0, -1))
    await converse(proxy, messages, [4])
    expect(sentLast().slice(0, before.length)).toEqual(before)
    expectComplete(sentLast(), messages.slice(0, -1))
  })
})
