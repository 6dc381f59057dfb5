import { describe, expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { adapterFor } from './adapter-for.ts'
import { readEngineError } from './read-error.ts'
import { type Usage, UsageReader } from './read-usage.ts'
import { findExchange, isComplete, type RecordedExchange, readRecordings } from './recorder/read-recorded.fixture.ts'

const recordings = readRecordings()
const complete = recordings.filter(isComplete)
const named = complete.map((recording) => [`${recording.engine} ${recording.version}`, recording] as const)

function readUsageOf({ answer }: RecordedExchange): Usage | undefined {
  const reader = new UsageReader(answer.headers['content-type'] ?? '')
  // in pieces, as it arrived
  for (let at = 0; at < answer.body.length; at += 300) reader.push(Buffer.from(answer.body.slice(at, at + 300)))
  return reader.read()
}

function isRefusal({ answer }: RecordedExchange): boolean {
  const reader = new UsageReader(answer.headers['content-type'] ?? '')
  reader.push(Buffer.from(answer.body))
  return reader.isRefusal
}

/** The tokens in full pages before the last token. */
const cacheable = (promptTokens: number, page: number): number => Math.floor((promptTokens - 1) / page) * page
const pages = { vllm: 32, sglang: 16 }

describe.each(named)('%s, with everything switched on', (_, recording) => {
  const page = pages[recording.engine]
  const has = (name: string): boolean => recording.exchanges.some((exchange) => exchange.name === name)

  test.each([
    'chat, cached',
    'chat, two samples',
    'chat, streamed with usage',
    'chat, streamed two samples with usage',
    'chat, streamed with usage all along',
    'completion, cached',
    'completion, streamed with usage',
    'response, cached',
    'response, streamed',
    'message, cached',
    'message, streamed',
    'generate, cached',
    'generate, streamed',
  ])('%s: its usage tells all that was cached, and all that was said', (name) => {
    // vLLM has no /generate of this form
    if (name.startsWith('generate') && recording.engine === 'vllm') return
    const usage = readUsageOf(findExchange(recording, name))
    expect(usage).toBeDefined()
    expect(usage!.promptTokens).toBeGreaterThan(240)
    expect(usage!.cachedTokens).toBe(cacheable(usage!.promptTokens, page))
    expect(usage!.completionTokens).toBeGreaterThan(0)
  })

  test('the first chat had nothing in the cache, and says so', () => {
    expect(readUsageOf(findExchange(recording, 'chat'))).toMatchObject({ cachedTokens: 0 })
  })

  test('a stream that was not asked for usage has none', () => {
    expect(readUsageOf(findExchange(recording, 'chat, streamed'))).toBeUndefined()
  })

  test('an answer to several prompts counts the tokens of all', () => {
    const { promptTokens } = readUsageOf(findExchange(recording, 'completion'))!
    const several = readUsageOf(findExchange(recording, 'completions of two prompts'))!
    expect(several.promptTokens).toBeGreaterThan(promptTokens)
    if (has('generate of two prompts')) {
      expect(readUsageOf(findExchange(recording, 'generate of two prompts'))!.promptTokens).toBe(several.promptTokens)
    }
  })

  test('an answer to several prompts counts what was cached of all, where the adapter says so', () => {
    const { promptTokens } = readUsageOf(findExchange(recording, 'completion'))!
    const { cachedTokens } = readUsageOf(findExchange(recording, 'completions of two prompts'))!
    // the first was cached; the second is too short to be
    const all = cacheable(promptTokens, page)
    expect(cachedTokens).toBe(adapterFor(recording.engine).countsCachedOfAll ? all : 0)
  })

  test('every fault is refused with an error whose message is found, or is none to this engine', () => {
    const faults = recording.exchanges.filter(({ name }) => name.startsWith('fault: '))
    expect(faults.length).toBeGreaterThan(10)
    for (const fault of faults) {
      const { status, body } = fault.answer
      if (status >= 400) expect(readEngineError(body)?.message, fault.name).toMatch(/\w/)
      else if (isRefusal(fault)) expect(body, fault.name).toContain('"error"')
      // SGLang serves its one model by any name
      else expect(fault.name).toContain('unknown model')
    }
    expect(readEngineError(findExchange(recording, 'fault: too long a prompt').answer.body)!.message).toContain(
      "model's",
    )
  })

  test('no answer that is none is taken for an error', () => {
    for (const exchange of recording.exchanges) {
      if (exchange.answer.status >= 400 || exchange.name.startsWith('fault: ')) continue
      expect(readEngineError(exchange.answer.body), exchange.name).toBeUndefined()
      expect(isRefusal(exchange), exchange.name).toBe(false)
    }
  })

  test('a request that is tagged as the adapter does it is answered by that id, and reported by it', () => {
    const adapter = adapterFor(recording.engine)
    const reported = new Set(recording.reports!.map(({ request_id }) => request_id))
    for (const name of ['chat', 'chat, streamed', 'completion']) {
      const { request_id, body, answer } = findExchange(recording, name)
      const tags = adapter.tagRequest(request_id as RequestId, 'salt')
      expect(body).toMatchObject(tags.members)
      expect(answer.body).toContain(`${request_id}"`)
      expect(reported).toContain(request_id)
    }
  })

  test("health probes are nobody's requests", () => {
    expect(findExchange(recording, 'health').answer.status).toBe(200)
    const ids = recording.reports!.map(({ request_id }) => request_id ?? '')
    expect(ids.filter((id) => id.includes('HEALTH'))).toEqual([])
    expect(ids.length).toBeGreaterThan(20)
  })
})

describe.each(
  recordings.filter(({ configuration }) => configuration === 'plain').map((one) => [one.engine, one] as const),
)('%s without any flag', (_, recording) => {
  test('tells what a prompt has, and not what of it was cached', () => {
    const usage = readUsageOf(findExchange(recording, 'doctor repeat'))!
    expect(usage.promptTokens).toBeGreaterThan(200)
    expect(usage.cachedTokens).toBeUndefined()
  })
})
