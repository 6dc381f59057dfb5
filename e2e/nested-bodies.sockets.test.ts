import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RunningProxy } from '#proxy/start/main.ts'
import { errorOf, startTestProxy } from './start-test-proxy.ts'

let proxy: RunningProxy
beforeAll(async () => {
  // nothing listens there: the control plane asks no engine
  proxy = await startTestProxy({ url: 'http://127.0.0.1:9', kind: 'vllm', id: 'gpu-0' })
})
afterAll(() => proxy.close())

const nestings: [string, string][] = [
  ['brackets', '['.repeat(5_000) + ']'.repeat(5_000)],
  ['braces', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
]
test.each(nestings)('5,000 nested %s are no body of a route of the control plane', async (_, nested) => {
  const bodies: [string, string, string[]][] = [
    ['PUT', '/v1/engines', ['NESTED', '{"engines":NESTED}', '{"engines":[{"url":NESTED}]}', '{"engines":[NESTED]}']],
    ['POST', '/v1/replicas/gpu-0/events', ['NESTED', '{"generation":"g","sequence":1,"events":[NESTED]}']],
    ['POST', '/v1/replicas/gpu-0/snapshot', ['NESTED', '{"generation":"g","sequence":1,"requests":[NESTED]}']],
    ['POST', '/evict', ['NESTED', '{"request_ids":[NESTED]}']],
    ['PUT', '/v1/chunks', ['NESTED', '{"chunks":NESTED}', '{"chunks":[{"id":NESTED,"text":"a"}]}']],
    ['DELETE', '/v1/chunks', ['{"ids":[NESTED]}', '{"chunks":[NESTED],"tenant":NESTED}']],
    ['POST', '/v1/explain?earlier', ['NESTED', '{"earlier":[],"request":[NESTED]}']],
  ]
  for (const [method, path, shapes] of bodies)
    for (const shape of shapes) {
      const body = shape.replaceAll('NESTED', nested)
      const response = await fetch(proxy.adminUrl + path, { method, body })
      expect([path, shape, response.status]).toEqual([path, shape, 400])
      expect(await errorOf(response)).toMatchObject({ code: 'invalid_body' })
    }
})
