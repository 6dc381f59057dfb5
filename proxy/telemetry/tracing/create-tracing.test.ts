import { expect, test, vi } from 'vitest'
import { createTracing } from './create-tracing.ts'
import { spanAttributes } from './tracing.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }

async function begin(env: NodeJS.ProcessEnv): Promise<{ isOn: boolean; warnings: string[] }> {
  const warnings: string[] = []
  const tracing = await createTracing(env, '0.0.0', (message) => warnings.push(message))
  await tracing?.close()
  return { isOn: tracing !== undefined, warnings }
}

test.each([{}, { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }])(
  'tracing is off, and says nothing, with %j',
  async (env) => {
    expect(await begin(env)).toEqual({ isOn: false, warnings: [] })
  },
)

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, /'collector' is not a URL/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /'collector:4318' is not a URL/],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' }, /'zipkin', but reprise has only 'otlp'/],
])('what cannot be used turns it off with a warning that says what to do: %j', async (env, warning) => {
  const { isOn, warnings } = await begin(env)
  expect(isOn).toBe(false)
  expect(warnings.join()).toMatch(warning)
})

test('an endpoint of traces alone turns it on; one that speaks gRPC is warned of', async () => {
  expect(await begin({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1' })).toEqual({
    isOn: true,
    warnings: [],
  })
  const { isOn, warnings } = await begin({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  expect([isOn, warnings.length]).toEqual([true, 1])
})

test('a variable of OpenTelemetry that cannot be used is warned of', async () => {
  vi.stubEnv('OTEL_TRACES_SAMPLER', 'often')
  const { isOn, warnings } = await begin(endpoint)
  vi.unstubAllEnvs()
  expect(isOn).toBe(true)
  expect(warnings).toEqual([expect.stringMatching(/OTEL_TRACES_SAMPLER value "often" invalid/)])
})

test('a span of a request that failed says how, and what is unknown is left out', () => {
  const unknown = {
    request_id: undefined,
    tenant: undefined,
    replica: undefined,
    provider: undefined,
    model: undefined,
  }
  const reused = { reused_tokens: undefined, recomputed_tokens: undefined, cold_tokens: undefined }
  const none = { predicted_cached_tokens: undefined, cached_tokens: undefined, prompt_tokens: undefined, ...reused }
  const times = { queue_ms: undefined, overhead_ms: undefined, ttft_ms: undefined, duration_ms: 1 }
  const record = { ...unknown, ...none, ...times, usage: undefined, skipped: undefined }
  const counts = { known_chunks: 0, blocks: 0, moved: 0, deduplicated: 0 }
  expect(spanAttributes({ ...record, ...counts, route: 'messages', outcome: 'queue_full', status: 429 })).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 429,
    'error.type': 'queue_full',
    'gen_ai.operation.name': 'chat',
    'reprise.outcome': 'queue_full',
    'reprise.blocks': 0,
    'reprise.moved': 0,
    'reprise.deduplicated': 0,
  })
  const figures = { cached_tokens: 20, reused_tokens: 50, recomputed_tokens: 10, cold_tokens: 20 }
  const reusing = { ...record, ...counts, ...figures, route: 'messages', status: 200 }
  expect(spanAttributes({ ...reusing, outcome: 'finished' })).toMatchObject({
    'gen_ai.usage.cache_read.input_tokens': 20,
    'reprise.reused_tokens': 50,
    'reprise.recomputed_tokens': 10,
    'reprise.cold_tokens': 20,
  })
  const refused = spanAttributes({ ...record, ...counts, route: 'pass_through', outcome: 'engine_error', status: 404 })
  expect(refused['error.type']).toBe('404')
  expect(refused).not.toHaveProperty('gen_ai.operation.name')
})
