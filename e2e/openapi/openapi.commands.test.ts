import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Reprises, type RunningReprise } from '../run-reprise.ts'
import { ragRequest } from '../start-test-proxy.ts'

interface Document {
  readonly paths: Readonly<Record<string, Record<string, { responses: Record<string, { content: object }> }>>>
}

const reprises = new Reprises()
const texts = ['first', 'second', 'third', 'fourth'].map((word) => `${word} ${'documents say more. '.repeat(20)}`)
const asked = new Set<string>()
let proxy: RunningReprise
let admin: string
let document: Document
let ajv: Ajv2020

beforeAll(async () => {
  const emulator = await reprises.start(['emulate', '--listen', '127.0.0.1:0'])
  const engine = `${emulator.listening.url},kind=vllm,id=gpu-0`
  const places = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0']
  proxy = await reprises.start(['serve', '--engine', engine, '--mode', 'on', ...places], {
    REPRISE_PINS_TOKENS: '9999',
  })
  admin = proxy.listening.admin_url!
  document = (await (await fetch(`${admin}/v1/openapi.json`)).json()) as Document
  ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { 'date-time': (text) => !Number.isNaN(Date.parse(text)) },
  })
  ajv.addFormat('file-path', true).addSchema(document, 'api')
  for (let i = 0; i < 6; i++) {
    const blocks = texts.map((_, j) => texts[(i + j) % texts.length]!)
    const prompts = [ragRequest(`What do they say, ${i}?`, blocks), ragRequest('No documents.', [])]
    for (const body of prompts) await (await send(`${proxy.listening.url}/v1/chat/completions`, 'POST', body)).text()
  }
  const content = [{ type: 'text', text: 'all of it. '.repeat(900), cache_control: { type: 'ephemeral' } }]
  await send(`${proxy.listening.url}/v1/chat/completions`, 'POST', {
    model: 'm',
    messages: [{ role: 'user', content }],
  })
  await vi.waitFor(async () => {
    const { total } = (await (await fetch(`${admin}/v1/usage`)).json()) as { total: { requests: number } }
    expect(total.requests).toBe(13)
  })
})
afterAll(() => reprises.stopAll())

function send(url: string, method: string, body?: unknown): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(url, { method, ...(body === undefined ? {} : { body: text }) })
}

/** Sends one request, checks its answer against the document, and returns it. */
async function check(operation: string, status: number, target: string, body?: unknown): Promise<unknown> {
  const [method, path] = operation.split(' ') as [string, string]
  asked.add(operation)
  const response = await send(admin + target, method, body)
  const content = await response.text()
  expect([operation, response.status, content]).toEqual([operation, status, expect.any(String)])
  const { responses } = document.paths[path]![method.toLowerCase()]!
  const known = status in responses ? String(status) : 'default'
  const type = response.headers.get('content-type')!.split(';')[0]!
  const media = `/paths/${path.replaceAll('/', '~1').replaceAll(/[{}]/g, encodeURIComponent)}/${method.toLowerCase()}/responses/${known}`
  expect(Object.keys(responses[known]!.content)).toEqual([type])
  if (type !== 'application/json' || path === '/v1/openapi.json') return content
  const answer: unknown = JSON.parse(content)
  const validate = ajv.getSchema(`api#${media}/content/application~1json/schema`)!
  expect([operation, validate(answer), validate.errors]).toEqual([operation, true, null])
  return answer
}

const templateOf = async (): Promise<string> => {
  const { templates } = (await check('GET /v1/templates', 200, '/v1/templates')) as { templates: { id: string }[] }
  return templates[0]!.id
}
const request = ragRequest('What do they say?', texts)
const batch = { generation: 'g', sequence: 1, events: [{ type: 'cleared' }] }

test('every read is answered as the document says', async () => {
  for (const path of ['/healthz', '/readyz', '/', '/metrics', '/v1/openapi.json', '/v1/usage', '/v1/gain', '/v1/stats'])
    await check(`GET ${path}`, 200, path)
  for (const path of ['/v1/shapes', '/v1/mirror', '/v1/index', '/v1/chunks', '/v1/pins'])
    await check(`GET ${path}`, 200, path)
  await check('GET /v1/templates/{id}', 200, `/v1/templates/${await templateOf()}`)
  await check('GET /v1/templates/{id}', 404, '/v1/templates/none')
})

test('explanations are, with what is moved, left alone and not found', async () => {
  await check('POST /v1/explain', 200, '/v1/explain', request)
  await check('POST /v1/explain', 200, '/v1/explain?earlier', { earlier: [request], request })
  const behind = (question: string): object => {
    const content = `Question: ${question}\n\n${texts.map((text) => `<document>${text}</document>`).join('\n')}`
    return {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
    }
  }
  const behindOther = { earlier: [behind('Who?')], request: behind('When?') }
  expect(await check('POST /v1/explain', 200, '/v1/explain?earlier', behindOther)).toMatchObject({
    skipped: 'differs_before',
    left_alone: [
      {
        at: 'messages.1.content',
        role: 'user',
        reason: 'differs_before',
        remedy: expect.any(String),
        byte: 12,
        here: expect.stringMatching(/^en\?/),
        instead_of: expect.stringMatching(/^o\?/),
      },
    ],
  })
  const withTool = (name: string): object => ({
    ...request,
    tools: [{ type: 'function', function: { name, parameters: {} } }],
  })
  const otherTools = { earlier: [withTool('a')], request: withTool('b') }
  expect(await check('POST /v1/explain', 200, '/v1/explain?earlier', otherTools)).toMatchObject({
    left_alone: [{ at: 'tools', reason: 'differs_before' }],
  })
  await check('POST /v1/explain', 200, '/v1/explain?api=generate', { text: 'no documents' })
  const rules = texts.map((text, i) => `### FILE ${i}:\n${text}`).join('\n')
  await check('POST /v1/explain', 200, '/v1/explain', ragRequest(rules, []))
  await check('POST /v1/explain', 400, '/v1/explain?api=none', request)
})

test('every change is', async () => {
  const chunks = texts.map((text, id) => ({ id, text }))
  await check('PUT /v1/chunks', 200, '/v1/chunks', { chunks, tenant: 'acme' })
  await check('GET /v1/chunks', 200, '/v1/chunks')
  await check('PUT /v1/chunks', 400, '/v1/chunks', { chunks: 1 })
  await check('DELETE /v1/chunks', 200, '/v1/chunks', { ids: [0] })
  const id = await templateOf()
  await check('PUT /v1/templates/{id}', 200, `/v1/templates/${id}`, { state: 'on' })
  await check('PUT /v1/templates/{id}', 400, `/v1/templates/${id}`, { state: 'maybe' })
  await check('DELETE /v1/templates/{id}', 200, `/v1/templates/${id}`)
  const { pins } = (await check('GET /v1/pins', 200, '/v1/pins')) as { pins: { id: string }[] }
  await check('DELETE /v1/pins/{id}', 200, `/v1/pins/${pins[0]!.id}`)
  await check('DELETE /v1/pins/{id}', 404, `/v1/pins/${pins[0]!.id}`)
  await check('DELETE /v1/pins', 200, '/v1/pins')
  await check('POST /v1/replicas/{replica}/snapshot', 200, '/v1/replicas/gpu-0/snapshot', {
    generation: 'g',
    sequence: 0,
    requests: [],
    reuse: { ratio: 0.1, max_ratio: 0.5 },
    checkpoints: { unit: 32, kinds: ['window'], room_tokens: 192, key: 'k' },
  })
  await check('POST /v1/replicas/{replica}/snapshot', 400, '/v1/replicas/gpu-0/snapshot', {})
  await check('POST /v1/replicas/{replica}/events', 200, '/v1/replicas/gpu-0/events', batch)
  await check('POST /v1/replicas/{replica}/events', 409, '/v1/replicas/gpu-0/events', { ...batch, sequence: 9 })
  await check('POST /v1/replicas/{replica}/events', 404, '/v1/replicas/other/events', batch)
  await check('GET /v1/mirror', 200, '/v1/mirror')
  await check('POST /evict', 200, '/evict', { request_ids: ['a'] })
  await check('POST /v1/replicas/{replica}/drain', 200, '/v1/replicas/gpu-0/drain')
  await check('GET /readyz', 503, '/readyz')
  await check('POST /v1/replicas/{replica}/resume', 200, '/v1/replicas/gpu-0/resume')
  await check('DELETE /v1/index', 200, '/v1/index')
  await check('PUT /v1/engines', 200, '/v1/engines', { engines: [{ url: 'http://127.0.0.1:9', kind: 'vllm' }] })
  await check('PUT /v1/engines', 400, '/v1/engines', { engines: [{ kind: 'vllm' }] })
})

test('the end is, and no operation of the document went unasked', async () => {
  await check('POST /v1/drain', 202, '/v1/drain')
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(all.filter((operation) => !asked.has(operation))).toEqual([])
})
