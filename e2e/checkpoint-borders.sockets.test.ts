import { afterEach, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

const unit = 16
const checkpoints = { unit, kinds: ['state'], room_tokens: 48, key: 'k-1' }
const words = (name: string): string => Array.from({ length: 60 }, (_, i) => `${name}${i}`).join(' ')

let proxy: RunningProxy
let engine: RecordingEngineDouble

afterEach(async () => {
  await proxy.close()
  await engine.close()
})

/** The prompt as the engine renders it, in tokens that end at each space. */
function tokenize(body: string): string[] {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] }
  const text = messages.map(({ content }) => `<|im_start|>${content}<|im_end|>`).join('')
  return text
    .replaceAll('\n', 'Ċ')
    .replaceAll(' ', 'Ġ')
    .match(/Ġ?[^Ġ]+/g)!
}

async function start(facts: object, canTokenize = true): Promise<void> {
  engine = await startRecordingEngineDouble()
  proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' })
  engine.answer((response, { url, body }) => {
    const answer = url === '/tokenize' ? { tokens: [1], token_strs: tokenize(body.toString()) } : { choices: [] }
    response.writeHead(url === '/tokenize' && !canTokenize ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
  const snapshot = { generation: 'g', sequence: 0, requests: [], ...facts }
  expect((await postJson(`${proxy.adminUrl}/v1/replicas/gpu-0/snapshot`, snapshot)).status).toBe(200)
}

/** Returns the body as the engine got it. */
async function send(question: string, ...blocks: string[]): Promise<string> {
  const body = ragRequest(question, blocks.map(words), { max_tokens: 50 })
  expect((await postJson(`${proxy.url}/v1/chat/completions`, body)).status).toBe(200)
  return engine.requests
    .filter(({ url }) => url === '/v1/chat/completions')
    .at(-1)!
    .body.toString()
}

const bordersIn = (body: string): unknown => JSON.parse(body).kv_transfer_params?.reprise
const questions = (): number => engine.requests.filter(({ body }) => body.includes('return_token_strs')).length

// on a busy machine the double may not say in time where they are
test('an engine that keeps checkpoints is told in tokens where blocks end, and asked once for each prefix', {
  retry: 3,
}, async () => {
  await start({ checkpoints })
  const sent = await send('Why?', 'alpha', 'beta', 'gamma')
  const tokens = tokenize(sent)
  const ends = ['alpha59', 'beta59', 'gamma59'].map((word) => tokens.findIndex((token) => token.includes(word)))
  // the last word of a block and what closes it are one token here, which others need not share
  const positions = ends.map((count) => count - (count % unit))
  expect(bordersIn(sent)).toEqual({ borders: positions, key: 'k-1' })
  expect(questions()).toBe(1)
  await send('How?', 'alpha', 'beta', 'gamma')
  expect(questions()).toBe(1)
})

/** What the control plane says of the replica's checkpoints, and where it would have them for a request. */
async function shown(): Promise<{ checkpoints: unknown; borders: unknown }> {
  const { replicas } = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as {
    replicas: [{ checkpoints: unknown }]
  }
  const body = ragRequest('Why?', ['alpha', 'beta', 'gamma'].map(words), { max_tokens: 50 })
  const { borders } = (await (await postJson(`${proxy.adminUrl}/v1/explain`, body)).json()) as { borders: unknown }
  return { checkpoints: replicas[0].checkpoints, borders }
}

test('where the engine does not say, positions are estimated, and too low rather than too high', async () => {
  await start({ checkpoints }, false)
  const before = await shown()
  const { borders } = bordersIn(await send('Why?', 'alpha', 'beta', 'gamma')) as { borders: number[] }
  expect(borders.length).toBeGreaterThan(0)
  expect(borders.every((position) => position % unit === 0)).toBe(true)
  expect(borders).toEqual(borders.toSorted((a, b) => a - b))
  // without the key, which would let others set borders
  expect(before).toEqual({ checkpoints: { unit, kinds: ['state'], room_tokens: 48, borders: true }, borders })
})

test.each([{}, { checkpoints: null }, { checkpoints: { unit, kinds: ['state'] } }])(
  'nothing is asked, and nothing added, where a snapshot says %j',
  async (facts) => {
    await start(facts)
    const sent = await send('Why?', 'alpha', 'beta', 'gamma')
    expect(sent).not.toContain('kv_transfer_params')
    expect(questions()).toBe(0)
    const isKept = 'checkpoints' in facts && facts.checkpoints !== null
    expect(await shown()).toMatchObject({ checkpoints: isKept ? { borders: false } : null, borders: null })
  },
)
