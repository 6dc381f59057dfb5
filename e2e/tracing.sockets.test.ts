import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { type RecordingEngineDouble, startRecordingEngineDouble } from './recording-engine-double.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

interface ReceivedSpan {
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly service: unknown
}

interface OtlpAttribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface OtlpSpan extends Omit<ReceivedSpan, 'attributes' | 'service'> {
  readonly attributes: OtlpAttribute[]
}

interface OtlpRequest {
  readonly resourceSpans: {
    readonly resource: { readonly attributes: OtlpAttribute[] }
    readonly scopeSpans: { readonly spans: OtlpSpan[] }[]
  }[]
}

const client = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const traceparent = `00-${client.traceId}-${client.spanId}-01`

let engine: RecordingEngineDouble
let collector: Server
let proxy: RunningProxy
let spans: ReceivedSpan[]
let received: { path: string; key: unknown; body: string }[]
/** status the collector answers with; undefined: it never answers */
let answer: number | undefined

beforeEach(async () => {
  engine = await startRecordingEngineDouble()
  spans = []
  received = []
  answer = 200
  collector = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ path: request.url!, key: request.headers['x-api-key'], body })
    spans.push(...spansOf(JSON.parse(body) as OtlpRequest))
    if (answer !== undefined) response.writeHead(answer, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`)
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-api-key=of-the-collector')
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
})

afterEach(async () => {
  await proxy.close()
  vi.unstubAllEnvs()
  await engine.close()
  collector.closeAllConnections()
  collector.close()
})

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  const record = (attributes: OtlpAttribute[]): Record<string, unknown> =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: record(span.attributes),
        service: record(resource.attributes)['service.name'],
      })),
    ),
  )
}

/** Waits for the root span of a request and returns it; the spans of its stages have arrived by then. */
async function requestSpan(): Promise<ReceivedSpan> {
  for (;;) {
    const root = spans.find(({ kind }) => kind === 2)
    if (root) return root
    await delay(5)
  }
}

async function send(headers: Record<string, string> = {}, path = '/v1/chat/completions'): Promise<void> {
  const body = ragRequest('secret-question', ['secret-a', 'secret-b'])
  await (await postJson(`${proxy.url}${path}`, body, { headers })).text()
}

describe('traces', () => {
  test('hold a span for each request with its stages, by the conventions for generative AI', async () => {
    vi.stubEnv('OTEL_SERVICE_NAME', 'my-proxy')
    proxy = await startTestProxy({ url: engine.url, kind: 'vllm', id: 'gpu-0' })
    await send()
    const root = await requestSpan()
    expect(root).toMatchObject({ name: 'chat m', service: 'my-proxy' })
    expect(root.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'vllm',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 8,
      'http.response.status_code': 200,
      'reprise.replica': 'gpu-0',
      'reprise.outcome': 'finished',
      'reprise.blocks': 2,
    })
    const stages = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId)
    expect(stages.map(({ name }) => name)).toEqual(['parse', 'index', 'queue', 'engine'])
    for (const stage of stages) {
      expect(stage.traceId).toBe(root.traceId)
      expect(BigInt(stage.startTimeUnixNano)).toBeLessThanOrEqual(BigInt(stage.endTimeUnixNano))
      expect(BigInt(stage.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano))
    }
    expect(received[0]).toMatchObject({ path: '/v1/traces', key: 'of-the-collector' })
    expect(received.map(({ body }) => body).join()).not.toContain('secret')
  })

  test('continue the client’s, and the engine’s continue ours', async () => {
    proxy = await startTestProxy({ url: engine.url })
    await send({ traceparent, tracestate: 'vendor=1' })
    const root = await requestSpan()
    expect(root).toMatchObject({ traceId: client.traceId, parentSpanId: client.spanId, traceState: 'vendor=1' })
    expect(engine.requests[0]!.headers).toMatchObject({
      traceparent: `00-${client.traceId}-${root.spanId}-01`,
      tracestate: 'vendor=1',
    })
  })

  test('hold requests that pass unread too', async () => {
    proxy = await startTestProxy({ url: engine.url })
    await send({ traceparent }, '/v1/embeddings')
    const root = await requestSpan()
    expect(root.parentSpanId).toBe(client.spanId)
    expect(engine.requests[0]!.headers.traceparent).toContain(root.spanId)
  })

  test('begin anew where the client’s header is none, and its state goes no further', async () => {
    proxy = await startTestProxy({ url: engine.url })
    await send({ traceparent: '00-zz-01', tracestate: 'vendor=1' })
    const root = await requestSpan()
    expect(root.parentSpanId ?? '').toBe('')
    expect(engine.requests[0]!.headers.traceparent).toBe(`00-${root.traceId}-${root.spanId}-01`)
    expect(engine.requests[0]!.headers.tracestate ?? '').toBe('')
  })

  test('that the client does not want recorded are not, and the engine is told so', async () => {
    proxy = await startTestProxy({ url: engine.url })
    await send({ traceparent: traceparent.replace(/01$/, '00') })
    expect(engine.requests[0]!.headers.traceparent).toMatch(new RegExp(`^00-${client.traceId}-[0-9a-f]{16}-00$`))
    await delay(100)
    expect(spans).toEqual([])
  })

  test.each([500, undefined])(
    'cost no request anything when the collector answers with %s, and do not hold up the end',
    async (status) => {
      answer = status
      proxy = await startTestProxy({ url: engine.url })
      await send()
      await requestSpan()
      await send()
      expect(engine.requests).toHaveLength(2)
      // the collector never accepts the spans
      await proxy.close()
    },
  )
})

describe('without tracing', () => {
  test.each([
    ['OTEL_SDK_DISABLED', 'true'],
    ['OTEL_TRACES_EXPORTER', 'none'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ''],
  ])('(%s=%s) the client’s headers reach the engine as they are, and nothing is sent', async (name, value) => {
    vi.stubEnv(name, value)
    proxy = await startTestProxy({ url: engine.url })
    await send({ traceparent, tracestate: 'vendor=1' })
    expect(engine.requests[0]!.headers).toMatchObject({ traceparent, tracestate: 'vendor=1' })
    await delay(100)
    expect(received).toEqual([])
  })
})
