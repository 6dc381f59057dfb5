import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, type TestContext, test } from 'vitest'
import { startEmulator } from '#emulator/emulator.ts'
import type { RunningProxy } from '#proxy/start/main.ts'
import { createDraw, drawDocuments, retrieve } from '#proxy/templates/traffic/sightings.fixture.ts'
import { readCorpus } from './demo/corpus.ts'
import { askQuestions } from './demo/questions.ts'
import { createRetriever } from './demo/retrieve.ts'
import type { Turn } from './demo/workload.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

interface Described {
  readonly id: string
  readonly state: string
  readonly moves: boolean
  readonly proof: { readonly samples: number }
}

let questions: Turn[] | undefined

type Asked = Pick<Turn, 'question' | 'blocks'>

async function start(
  mode: 'auto' | 'ask' | 'on',
  { onTestFinished }: TestContext,
  inFront?: (engineUrl: string) => Promise<string>,
): Promise<RunningProxy> {
  const size = { capacityTokens: 10_000_000, prefillTokensPerSecond: 10_000_000 }
  const emulator = await startEmulator({ host: '127.0.0.1', port: 0, kind: 'vllm', ...size, reads: true })
  const url = (await inFront?.(emulator.url)) ?? emulator.url
  const proxy = await startTestProxy({ url, kind: 'vllm' }, { mode })
  onTestFinished(async () => {
    await proxy.close()
    await emulator.close()
  })
  return proxy
}

/** A server in front of an engine that does not answer the second prompt to be scored. */
async function holdSecondScore(
  engineUrl: string,
  { onTestFinished }: TestContext,
): Promise<{ url: string; scored: string[]; held: Promise<void> }> {
  const scored: string[] = []
  let hold = (): void => {}
  const held = new Promise<void>((resolve) => {
    hold = resolve
  })
  const server = createServer(async (request, response) => {
    const body = await text(request)
    if (body.includes('logprobs') && scored.push(body) === 2) return hold()
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers as Record<string, string>
    const init = request.method === 'POST' ? { method: 'POST', headers, body } : { headers }
    const answer = await fetch(`${engineUrl}${request.url}`, init)
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, scored, held }
}

/** Questions to a documentation assistant, each with the beginnings of the sections that match it best. */
async function readQuestions(): Promise<Turn[]> {
  questions ??= askQuestions(createRetriever(await readCorpus()), 6).filter(({ blocks }) => blocks.length === 6)
  return questions
}

/** Questions in words of some of forty documents, each with the six that have most of them. */
function drawQuestions(count: number): Asked[] {
  const draw = createDraw(7)
  const documents = drawDocuments(40, draw)
  return Array.from({ length: count }, () => {
    const { items, question } = retrieve(documents, 6, draw)
    return { question, blocks: items.map((text) => ({ id: text.slice(0, 12), text })) }
  })
}

/** A form that no rule knows. */
function unknownBodyOf(model: string, { question, blocks }: Asked): object {
  const documents = blocks.map(({ text }) => `~~ zeki\n${text}\n~~ mura`)
  const content = `Qua dro vex.\n\n${documents.join('\n\n')}\n\nTrifer: ${question}`
  return { model, max_tokens: 64, messages: [{ role: 'user', content }] }
}

function bodyOf(model: string, { question, blocks }: Asked): object {
  const documents = blocks.map(({ text }) => `<document>\n${text.replace(/[<>]/g, ' ').slice(0, 600)}\n</document>`)
  const content = `<documents>\n${documents.join('\n')}\n</documents>\n\nQuestion: ${question}`
  const system = { role: 'system', content: 'Answer from the documents.' }
  return { model, max_tokens: 64, messages: [system, { role: 'user', content }] }
}

async function send(
  proxy: RunningProxy,
  model: string,
  turn: Asked,
  toBody = bodyOf,
): Promise<{ moved: number; template: string | null }> {
  const response = await postJson(`${proxy.url}/v1/chat/completions`, toBody(model, turn))
  const answer = await response.text()
  if (response.status !== 200) throw new Error(`${response.status}: ${answer}`)
  const { headers } = response
  return { moved: Number(headers.get('x-reprise-moved')), template: headers.get('x-reprise-template') }
}

async function templates(proxy: RunningProxy): Promise<Described[]> {
  const response = await fetch(`${proxy.adminUrl}/v1/templates`)
  return ((await response.json()) as { templates: Described[] }).templates
}

/** Gives the model time to be asked, while no client needs it. */
async function untilScored(proxy: RunningProxy, samples: number): Promise<void> {
  for (let i = 0; i < 400; i++) {
    const [template] = await templates(proxy)
    if (template === undefined || template.proof.samples >= samples) return
    if (template.state === 'proved' || template.state === 'refuted') return
    await pause(25)
  }
}

function decided(states: readonly string[]): string[] {
  return [...new Set(states)].filter((state) => state !== 'ready')
}

/** Blocks that moved, after which nothing else is expected. */
const enough = 20

async function live(
  proxy: RunningProxy,
  model: string,
  asked: readonly Asked[],
  toBody = bodyOf,
): Promise<{ states: string[]; moved: number }> {
  const states: string[] = []
  let moved = 0
  let samples = 0
  for (const turn of asked) {
    const { moved: own, template } = await send(proxy, model, turn, toBody)
    // a list that words leave alone has no template
    const state = template?.split('state=')[1] ?? states.at(-1) ?? 'learning'
    if (states.at(-1) !== state) states.push(state)
    moved += own
    if (state === 'ready') await untilScored(proxy, ++samples)
    if (state === 'refuted' || moved >= enough) break
  }
  return { states, moved }
}

// a proof takes a fifth of the time at most, and waits for the rest: so they live beside each other
describe.concurrent('the life of a template in mode auto', () => {
  test('whose answers do not depend on the order: learnt, proved on the model, then moved', async (context) => {
    const { expect } = context
    const proxy = await start('auto', context)
    const { states, moved } = await live(proxy, 'reader-content', await readQuestions())
    // traffic may take its verdict back, and give it again; the model may have answered before it is given first
    expect(decided(states)).toEqual(['learning', 'proved'])
    expect(moved).toBeGreaterThan(0)
  })

  test('a client that interrupts a proof costs what was not scored yet', async (context) => {
    const { expect } = context
    let gate: Awaited<ReturnType<typeof holdSecondScore>> | undefined
    const proxy = await start('auto', context, async (engineUrl) => {
      gate = await holdSecondScore(engineUrl, context)
      return gate.url
    })
    const { scored, held } = gate!
    const asked = await readQuestions()
    let last = 0
    while (scored.length === 0) {
      await send(proxy, 'reader-content', asked[last++]!)
      if ((await templates(proxy))[0]?.state === 'ready') await Promise.race([held, pause(2_000)])
    }
    await held
    await send(proxy, 'reader-content', asked[last]!)
    await untilScored(proxy, 1)
    const [first, interrupted, again, rewritten] = scored
    expect(again).toBe(interrupted)
    expect(new Set([first, again, rewritten]).size).toBe(3)
  })

  test('whose answers follow the order: refuted by the model, and never moved', async (context) => {
    const { expect } = context
    const proxy = await start('auto', context)
    const { states, moved } = await live(proxy, 'reader-place', await readQuestions())
    expect(decided(states)).toEqual(['learning', 'refuted'])
    expect(moved).toBe(0)
  })
})

describe.concurrent('the life of a template whose form no rule knows', () => {
  test('its borders are learnt, it is proved on the model, then moved', async (context) => {
    const { expect } = context
    const proxy = await start('auto', context)
    const { states, moved } = await live(proxy, 'reader-content', drawQuestions(120), unknownBodyOf)
    expect(decided(states)).toEqual(['learning', 'proved'])
    expect(moved).toBeGreaterThan(0)
    expect(await templates(proxy)).toMatchObject([{ found_by: 'learnt', state: 'proved' }])
  })

  test('in mode on, too, it is moved only once traffic shows that it is a set', async (context) => {
    const { expect } = context
    const proxy = await start('on', context)
    const states: (string | undefined)[] = []
    let left = 0
    for (const turn of drawQuestions(60)) {
      const { moved } = await send(proxy, 'reader-content', turn, unknownBodyOf)
      if (moved > 0) states.push((await templates(proxy))[0]?.state)
      else if (states.length === 0) left++
    }
    expect([...new Set(states)]).toEqual(['ready'])
    expect(left).toBeGreaterThan(10)
  })
})

describe.concurrent('the life of a template in mode ask', () => {
  test('the model is not asked; lists move from the moment a person permits it', async (context) => {
    const { expect } = context
    const proxy = await start('ask', context)
    const turns = await readQuestions()
    for (const turn of turns.slice(0, 12)) expect((await send(proxy, 'reader-content', turn)).moved).toBe(0)
    const [template] = await templates(proxy)
    const url = `${proxy.adminUrl}/v1/templates/${template!.id}`
    const said = await fetch(url, { method: 'PUT', body: '{"state":"on"}' })
    expect(await said.json()).toEqual({ id: template!.id, state: 'on' })
    let moved = 0
    for (const turn of turns.slice(12, 40)) moved += (await send(proxy, 'reader-content', turn)).moved
    expect(moved).toBeGreaterThan(0)
    expect(await templates(proxy)).toMatchObject([{ state: 'on', moves: true, proof: { samples: 0 } }])
  })
})
