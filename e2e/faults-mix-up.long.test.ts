import { setTimeout as delay } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { EngineKind } from '#engine-adapters/engine-adapter.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type EchoingEngineDouble, startEchoingEngineDouble } from './echoing-engine-double.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'
import { failOnFaults, until } from './watch-faults.ts'

const turns = 4
/** Documents that all conversations retrieve, so that each prompt is reordered to match the others. */
const shared = Array.from({ length: 40 }, (_, k) => `Document ${k} of the corpus: ${`fact ${k}. `.repeat(20)}`)

let engine: EchoingEngineDouble
let proxy: RunningProxy

failOnFaults()
beforeEach(async () => {
  engine = await startEchoingEngineDouble()
})
afterEach(async () => {
  await proxy.close()
  await engine.close()
})

/** Creates a random generator that is the same in every run (mulberry32). */
function createChance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000) * below)
  }
}

interface Message {
  readonly role: string
  readonly content: string
}

interface Answer {
  readonly history: string[]
  readonly last: string[]
}

/** Returns a turn's question about up to five shared documents and one of this conversation only, in random order. */
function ask(chance: (below: number) => number, conversation: number, turn: number): Message {
  const own = `Private note <<${conversation}.${turn}>> for one reader.`
  const blocks = [own, ...Array.from({ length: 5 }, () => shared[chance(shared.length)]!)]
  const order = blocks.map((text) => ({ text, key: chance(1_000_000) })).toSorted((a, b) => a.key - b.key)
  const documents = order.map(({ text }, i) => `<document index="${i + 1}">\n${text}\n</document>`).join('\n')
  return {
    role: 'user',
    content: `<documents>\n${documents}\n</documents>\n\nQuestion: what of <<${conversation}.${turn}>>?`,
  }
}

async function readAnswer(response: Response, isStream: boolean): Promise<string> {
  const text = await response.text()
  if (!isStream) return JSON.parse(text).choices[0].message.content
  let content = ''
  let isWhole = false
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') isWhole = true
      else content += JSON.parse(data).choices[0].delta.content
    },
  })
  parser.feed(text)
  expect(isWhole).toBe(true)
  return content
}

/** Sends a request and aborts it after a moment or when its answer begins, as when a user presses stop. */
async function abandon(
  url: string,
  body: unknown,
  headers: Record<string, string>,
  after: number | 'head',
): Promise<void> {
  const aborter = new AbortController()
  if (after !== 'head') setTimeout(() => aborter.abort(), after)
  await postJson(url, body, { headers, signal: aborter.signal })
    .then<unknown>((response) => (after === 'head' ? aborter.abort() : response.text()))
    .catch(() => {})
}

/** Retries on connection timeouts: on a busy machine, opening hundreds of connections takes longer than fetch waits. */
async function postPatiently(url: string, body: unknown, init: RequestInit): Promise<Response> {
  for (;;) {
    try {
      return await postJson(url, body, init)
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } }
      if (cause?.code !== 'UND_ERR_CONNECT_TIMEOUT') throw error
    }
  }
}

/** Runs one conversation from its first turn to its last. Returns how many answers it checked. */
async function converse(conversation: number): Promise<number> {
  const chance = createChance(conversation)
  const url = `${proxy.url}/v1/chat/completions`
  const messages: Message[] = [{ role: 'system', content: 'Answer from the documents.' }]
  const asked: string[] = []
  let checked = 0
  for (let turn = 0; turn < turns; turn++) {
    messages.push(ask(chance, conversation, turn))
    const stream = chance(2) === 0
    const body = { model: 'm', messages, stream }
    const id = `c${conversation}-t${turn}`
    const headers = { authorization: `Bearer tenant-${conversation % 3}` }
    if (chance(3) === 0) await abandon(url, body, headers, chance(2) === 0 ? chance(40) : 'head')
    const response = await postPatiently(url, body, { headers: { ...headers, 'x-request-id': id } })
    const engineSaw = response.headers.get('x-engine-saw')
    const content = await readAnswer(response, stream)
    const { history, last } = JSON.parse(content) as Answer
    const own = `<<${conversation}.${turn}>>`
    expect(response.status).toBe(200)
    expect([response.headers.get('x-request-id'), engineSaw]).toEqual([id, id])
    // once in the document, once in the question
    expect(last).toEqual([own, own])
    expect(new Set(history)).toEqual(new Set(asked))
    asked.push(own)
    messages.push({ role: 'assistant', content: `I said ${content.replaceAll('<<', '').replaceAll('>>', '')}` })
    checked += 1
  }
  return checked
}

test.each<[conversations: number, kind: EngineKind]>([
  [200, 'vllm'],
  // for this kind nothing is added to a request; the requests share the same documents
  [100, 'openai'],
])(
  'of %i conversations at once each gets its own answers, whoever leaves in between: %s',
  async (conversations, kind) => {
    proxy = await startTestProxy({ url: engine.url, kind }, { drain_seconds: 600 })
    const checked = await Promise.all(
      Array.from({ length: conversations }, async (_, i) => {
        // stagger the starts
        await delay(2 * i)
        return converse(i)
      }),
    )
    expect(checked).toEqual(checked.map(() => turns))
    const metrics = async (): Promise<string> => (await fetch(`${proxy.adminUrl}/metrics`)).text()
    // the test would prove nothing if no prompt had been rewritten or no client had left
    expect(Number(/^reprise_blocks_total\{action="moved"\} (\d+)$/m.exec(await metrics())![1])).toBeGreaterThan(
      2 * conversations,
    )
    expect(await metrics()).toMatch(/^reprise_stream_aborts_total\{phase="mid_stream"\} [1-9]/m)
    expect(await metrics()).not.toMatch(/^reprise_fail_open_total.* [1-9]/m)
    await until(async () => /^reprise_queue_depth 0$/m.test(await metrics()))
    expect(engine.answered).toBeGreaterThanOrEqual(conversations * turns)
  },
)
