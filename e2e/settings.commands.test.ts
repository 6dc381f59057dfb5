import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Config } from '#proxy/config/config.ts'
import { type RunningProxy, startProxy } from '#proxy/start/main.ts'
import { keysIn } from './keys-file.ts'
import { contentsIn, documentRequest, longBlock, metricOf, placedIn } from './placed-blocks.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { Reprises } from './run-reprise.ts'
import { configWith, errorOf, type Overrides, postJson } from './start-test-proxy.ts'

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

function configOf(overrides: Overrides = {}): Config {
  return configWith({ engines: [{ url: engine.url, kind: 'openai', id: 'engine' }], ...overrides })
}

async function start(overrides: Overrides = {}): Promise<void> {
  await proxy?.close()
  proxy = await startProxy(configOf(overrides))
}

const ask = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  postJson(`${proxy!.url}/v1/chat/completions`, body, { headers })

const sent = (): string => contentsIn(engine.requests.at(-1)).at(-1)!
const lastBody = (): string => engine.requests.at(-1)!.body.toString()

describe('the configuration', () => {
  test('words annotations', async () => {
    await start({ annotations: { order: 'Wichtigste zuerst: {order}.', location: 'Siehe {label}, oben.' } })
    const explicit = (names: string): object => ({
      messages: [{ role: 'user', content: '{{context}}\n\nq' }],
      reprise: { blocks: [...names].map((name) => ({ text: longBlock(name) })) },
    })
    await ask(explicit('AB'))
    expect(sent()).toBe(`[Doc_1] ${longBlock('A')}\n\n[Doc_2] ${longBlock('B')}\n\nq`)
    await ask(explicit('BA'))
    expect(sent()).toContain(`[Doc_1] ${longBlock('A')}\n\n[Doc_2] ${longBlock('B')}`)
    expect(sent()).toMatch(/Wichtigste zuerst: \[\S+\] > \[\S+\]\./)
    const turns = documentRequest('q1', 'CD') as { messages: object[] }
    turns.messages.push({ role: 'assistant', content: 'x' }, (documentRequest('q2', 'CE') as typeof turns).messages[1]!)
    await ask(turns)
    expect(sent()).toMatch(/Siehe \[\S+\], oben\./)
    expect(sent()).not.toContain('Please')
  })

  test('says what requests get that say nothing, and a request may say otherwise', async () => {
    await start({ options: 'dedup=off,annotate=off' })
    const twice = (): object => {
      const turns = documentRequest('q1', 'AB') as { messages: object[] }
      turns.messages.push(
        { role: 'assistant', content: `x` },
        (documentRequest('q2', 'AC') as typeof turns).messages[1]!,
      )
      return turns
    }
    const kept = await ask(twice())
    expect(kept.headers.get('x-reprise-deduplicated')).toBe('0')
    expect(sent()).toContain(longBlock('A'))
    await ask(documentRequest('q', 'DEF'))
    await ask(documentRequest('q', 'FED'))
    expect(placedIn(engine.requests.at(-1))).toBe('DEF')
    expect(sent()).not.toContain('priority order')
    await ask(documentRequest('q9', 'EFD'), { 'x-reprise-options': 'annotate=on' })
    expect(sent()).toContain('priority order')
    await start({ options: 'dedup=off' })
    const pointed = await ask(twice(), { 'x-reprise-options': 'dedup=on' })
    expect(pointed.headers.get('x-reprise-deduplicated')).toBe('1')
    // options in the body override the header
    const body = { ...(documentRequest('q', 'GHA') as object), reprise: { options: { reorder: 'off' } } }
    const asked = await ask(body, { 'x-reprise-options': 'reorder=on' })
    expect(asked.headers.get('x-reprise-moved')).toBe('0')
  })

  test('has tools sorted only where it says so', async () => {
    const tool = (name: string): string =>
      `{"type":"function","function":{"name":"${name}","parameters":{"b":1.0,"a":12345678901234567890}}}`
    const system = 'You are a helper.\\nCurrent date: 2026-11-21\\nBe brief and kind.'
    const bodyWith = (...names: string[]): string =>
      `{ "tools" : [${names.map(tool).join(' , ')}], "messages":[{"role":"system","content":"${system}"},{"role":"user","content":"hi"}], "seed": 1.0 }`
    await start()
    await ask(bodyWith('b', 'a'))
    expect(lastBody()).toBe(bodyWith('b', 'a'))
    await start({ hygiene: { sort_tools: true, behind_history: [] } })
    await ask(bodyWith('b', 'a', 'c'))
    const sorted = lastBody()
    expect((JSON.parse(sorted).tools as { function: { name: string } }[]).map((one) => one.function.name)).toEqual([
      'a',
      'b',
      'c',
    ])
    // each tool keeps its bytes
    for (const name of ['a', 'b', 'c']) expect(sorted).toContain(tool(name))
    expect(sorted).toContain(system)
    await ask(bodyWith('c', 'b', 'a'))
    expect(lastBody()).toBe(sorted)
    await ask(bodyWith('a', 'b'))
    expect(lastBody()).toBe(bodyWith('a', 'b'))
    await start({ hygiene: { sort_tools: true, behind_history: [] }, mode: 'off' })
    await ask(bodyWith('b', 'a'))
    expect(lastBody()).toBe(bodyWith('b', 'a'))
  })
})

describe('a reload', () => {
  test('counts for the next request, and drops no stream', async () => {
    await start({ keepAliveSeconds: 0 })
    let finish: () => void = () => {}
    engine.answer((answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n')
      finish = () => answer.end('data: [DONE]\n\n')
    })
    const running = await ask(documentRequest('q', 'ABC', { stream: true }))
    engine.answer((answer) => answer.end('{}'))
    proxy!.reload(configOf({ options: 'reorder=off' }))
    expect((await ask(documentRequest('q2', 'CBA'))).headers.get('x-reprise-skipped')).toBe('reorder_off')
    proxy!.reload(configOf({ headers: false }))
    const { headers } = await ask(documentRequest('q2', 'CAB'))
    expect([...headers.keys()].filter((name) => name.startsWith('x-reprise-'))).toEqual([])
    expect(headers.get('x-request-id')).not.toBeNull()
    proxy!.reload(configOf({ mode: 'off' }))
    expect((await ask(documentRequest('q3', 'CBA'))).headers.get('x-reprise-skipped')).toBe('mode_off')
    proxy!.reload(configOf({ limits: { body_bytes: 100 } }))
    expect((await errorOf(await ask(documentRequest('q4', 'CBA')))).code).toBe('body_too_large')
    proxy!.reload(configOf({ annotations: { order: 'Order: {order}' } }))
    await ask(documentRequest('q5', 'CBA'))
    expect(sent()).toContain('Order: [3] > [2] > [1]')
    const content = `$$$ ${longBlock('a')}\n$$$ ${longBlock('b')}\n$$$ ${longBlock('c')}\nq`
    const blocksIn = async (): Promise<string | null> =>
      (await ask({ messages: [{ role: 'user', content }] })).headers.get('x-reprise-blocks')
    expect(await blocksIn()).toBe('0')
    proxy!.reload(configOf({ templates: [{ block: '$$$ {block}\n', after: 'q' }] }))
    expect(await blocksIn()).toBe('3')
    finish()
    expect(await running.text()).toBe('data: {}\n\ndata: [DONE]\n\n')
  })

  test('lets those go that waited for more slots', async () => {
    await start({ limits: { in_flight_per_replica: 1 } })
    const held: (() => void)[] = []
    engine.answer((answer) => held.push(() => answer.end('{}')))
    const asked = [1, 2, 3].map((i) => ask({ messages: [{ role: 'user', content: `${i}` }] }))
    await vi.waitFor(async () => expect(await metricOf(proxy!.adminUrl, 'reprise_queue_depth')).toBe(2))
    expect(held).toHaveLength(1)
    proxy!.reload(configOf({ limits: { in_flight_per_replica: 8 } }))
    await vi.waitFor(() => expect(held).toHaveLength(3))
    for (const answer of held) answer()
    for (const response of await Promise.all(asked)) expect(response.status).toBe(200)
  })

  test('takes on keys, and none that cannot be used changes anything', async () => {
    await start()
    const keys = keysIn({ tenant: 't', sha256: createHash('sha256').update('sk-1').digest('hex') })
    proxy!.reload(configOf({ keys }))
    const key = { authorization: 'Bearer sk-1' }
    expect((await ask(documentRequest('q', 'AB'))).status).toBe(401)
    expect((await ask(documentRequest('q', 'AB'), key)).status).toBe(200)
    expect(engine.requests.at(-1)!.headers).not.toHaveProperty('authorization')
    const broken: Overrides[] = [
      { mode: 'off', keys, templates: [{ block: '{block}' }] },
      { mode: 'off', keys, tenants: { trusted_peers: ['everybody'] } },
    ]
    for (const config of broken) {
      expect(() => proxy!.reload(configOf(config))).toThrow()
      expect((await ask(documentRequest('q', 'AB'))).status).toBe(401)
      expect((await ask(documentRequest('q', 'AB'), key)).headers.get('x-reprise-skipped')).not.toBe('mode_off')
    }
  })
})

describe('logs.prompts', () => {
  const reprises = new Reprises()
  afterEach(() => reprises.stopAll())

  test('has prompts logged by their request’s id, cut to a length, and only where it is on', async () => {
    for (const isOn of [true, false]) {
      const { listening, stderr } = await reprises.start(
        ['serve', '--engine', engine.url, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'],
        { REPRISE_LOGS_PROMPTS: String(isOn) },
      )
      const url = `${listening.url}/v1/chat/completions`
      const body = JSON.stringify(documentRequest('very secret', 'AB'))
      await (
        await postJson(url, body, { headers: { 'x-request-id': 'r-7', authorization: 'Bearer sk-hidden' } })
      ).text()
      await (await postJson(url, { messages: [{ role: 'user', content: 'x'.repeat(20_000) }] })).text()
      await vi.waitFor(() => expect(stderr().match(/"msg":"request"/g)).toHaveLength(2))
      await delay(50)
      const prompts = stderr()
        .split('\n')
        .filter((line) => line.includes('"msg":"prompt"'))
        .map((line) => JSON.parse(line))
      if (isOn) {
        expect(prompts).toMatchObject([
          { request_id: 'r-7', prompt: body, truncated: false },
          { prompt: expect.stringMatching(/x{16000}/), truncated: true },
        ])
        expect(prompts[1].prompt.length).toBe(16 * 1024)
      } else expect(prompts).toEqual([])
      expect(stderr()).not.toContain('sk-hidden')
      if (!isOn) expect(stderr()).not.toContain('very secret')
    }
  })
})
