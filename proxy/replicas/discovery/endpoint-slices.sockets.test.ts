import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EndpointSlices } from './endpoint-slices.ts'
import { inClusterAccess, KubernetesApi } from './kubernetes-api.ts'
import { KubernetesApiDouble } from './kubernetes-api-double.fixture.ts'

let api: KubernetesApiDouble
let slices: EndpointSlices
let changes: number
beforeEach(async () => {
  api = new KubernetesApiDouble()
  const access = await api.start()
  changes = 0
  slices = new EndpointSlices(
    () => new KubernetesApi(access),
    () => {
      changes += 1
    },
  )
})
afterEach(async () => {
  slices.retain([])
  await api.close()
})

const service = { url: 'http://vllm.ai.svc.cluster.local:8000' }
const namesNow = async (of = service): Promise<(string | undefined)[]> =>
  (await slices.resolve(of)).map(({ name }) => name).sort()
const becomes = (names: string[], of = service): Promise<void> =>
  vi.waitFor(async () => expect(await namesNow(of)).toEqual(names), { timeout: 20_000 })

test('pods that are ready are there, of all slices of the Service, and of no other Service', async () => {
  api.put('vllm-a', 'vllm', [
    { name: 'vllm-0', address: '10.0.0.1' },
    { name: 'vllm-1', address: '10.0.0.2', conditions: { ready: false, serving: false } },
    { name: 'vllm-2', address: '10.0.0.3', conditions: {} },
    { name: 'vllm-3', address: '10.0.0.4', conditions: { ready: true, serving: true, terminating: true } },
    { name: 'vllm-4', address: '10.0.0.5', conditions: { ready: false, serving: true, terminating: true } },
  ])
  api.put('vllm-b', 'vllm', [{ name: 'vllm-5', address: '10.0.0.6' }])
  api.put('tei', 'tei', [{ name: 'tei-0', address: '10.0.0.7' }])
  expect(await namesNow()).toEqual(['vllm-0', 'vllm-2', 'vllm-5'])
  expect(await slices.resolve(service)).toContainEqual({ host: '10.0.0.1', port: '8000', name: 'vllm-0' })
})

test('a pod with two addresses is one engine, and the port is that of the slice if the URL names none', async () => {
  api.put(
    'six',
    'vllm',
    [
      { name: 'vllm-0', address: 'fd00::1' },
      { name: 'vllm-1', address: 'fd00::2' },
    ],
    {
      addressType: 'IPv6',
      port: 9000,
    },
  )
  api.put('four', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }], { port: 9000 })
  // without a namespace in the name it is the pod's own
  expect(await slices.resolve({ url: 'http://vllm' })).toEqual([
    { host: '10.0.0.1', port: '9000', name: 'vllm-0' },
    { host: '[fd00::2]', port: '9000', name: 'vllm-1' },
  ])
})

test('what changes is known at once, by one watch', async () => {
  api.put('a', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }])
  expect(await namesNow()).toEqual(['vllm-0'])
  await vi.waitFor(() => expect(api.watches).toBe(1))
  const before = changes
  api.put('a', 'vllm', [
    { name: 'vllm-0', address: '10.0.0.1', conditions: { ready: false, terminating: true } },
    { name: 'vllm-1', address: '10.0.0.2' },
  ])
  await becomes(['vllm-1'])
  expect(changes).toBeGreaterThan(before)
  api.put('b', 'vllm', [{ name: 'vllm-2', address: '10.0.0.3' }])
  await becomes(['vllm-1', 'vllm-2'])
  api.delete('a')
  await becomes(['vllm-2'])
  expect(api.asked.filter((path) => path.includes('watch=1'))).toHaveLength(1)
})

test('a watch that ends goes on from the last version, bookmarks included', async () => {
  api.put('a', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }])
  await namesNow()
  await vi.waitFor(() => expect(api.watches).toBe(1))
  api.put('other', 'tei', [])
  api.bookmark()
  await pause(100)
  api.endWatches()
  await vi.waitFor(() => expect(api.asked).toHaveLength(3), { timeout: 20_000 })
  expect(api.asked[2]).toContain('resourceVersion=3')
  api.put('a', 'vllm', [{ name: 'vllm-1', address: '10.0.0.2' }])
  await becomes(['vllm-1'])
})

test('a version that is gone is listed anew, and nothing is missed', async () => {
  api.put('a', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }])
  await namesNow()
  await vi.waitFor(() => expect(api.watches).toBe(1))
  api.endWatches(true)
  api.put('b', 'vllm', [{ name: 'vllm-1', address: '10.0.0.2' }])
  await becomes(['vllm-0', 'vllm-1'])
  expect(api.asked.filter((path) => !path.includes('watch=1'))).toHaveLength(2)
  api.put('b', 'vllm', [])
  await becomes(['vllm-0'])
})

test.each([
  ['an error', '{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}'],
  ['no JSON', 'x'],
  ['null', 'null'],
  ['an event without an object', '{"type":"MODIFIED"}'],
])('%s in a watch that stays open ends the watch only', async (_, line) => {
  api.put('a', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }])
  await namesNow()
  await vi.waitFor(() => expect(api.watches).toBe(1))
  api.say(line)
  await vi.waitFor(() => expect(api.asked.filter((path) => path.includes('watch=1'))).toHaveLength(2), {
    timeout: 20_000,
  })
  api.put('a', 'vllm', [{ name: 'vllm-1', address: '10.0.0.2' }])
  await becomes(['vllm-1'])
})

test('watches that end at once are not repeated in a tight loop', async () => {
  api.endsWatches = true
  await namesNow()
  await pause(2_000)
  // a pause of at least a second before each but the first
  expect(api.asked.length).toBeLessThan(6)
})

test('a connection that breaks is made again, and a token that was renewed is used', async () => {
  api.put('a', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }])
  await namesNow()
  await vi.waitFor(() => expect(api.watches).toBe(1))
  api.renew('secret-2')
  api.breakOff()
  api.put('a', 'vllm', [{ name: 'vllm-1', address: '10.0.0.2' }])
  await vi.waitFor(() => expect(api.watches).toBe(1), { timeout: 20_000 })
  await becomes(['vllm-1'])
})

test('a refusal is the reason that is told, and ends when the API agrees', async () => {
  api.refuses = 403
  await expect(slices.resolve(service)).rejects.toThrow(/answers 403: .*forbidden/)
  api.refuses = undefined
  api.put('a', 'vllm', [{ name: 'vllm-0', address: '10.0.0.1' }])
  await vi.waitFor(async () => expect(await namesNow()).toEqual(['vllm-0']), { timeout: 20_000 })
})

test('a Service that is no longer configured is no longer watched', async () => {
  await namesNow()
  await vi.waitFor(() => expect(api.watches).toBe(1))
  slices.retain([{ url: 'http://tei' }])
  await vi.waitFor(() => expect(api.watches).toBe(0))
})

test('outside of a cluster it is said that there is none', async () => {
  const outside = new EndpointSlices(
    () => new KubernetesApi(inClusterAccess({})),
    () => {},
  )
  await expect(outside.resolve(service)).rejects.toThrow(/no pod of a cluster/)
  outside.retain([])
  expect(inClusterAccess({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }).url).toBe(
    'https://[fd00::1]:6443',
  )
})

test('an API that does not answer is named, with how long it was waited for', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const access = { url: `http://127.0.0.1:${port}`, folder: '/nowhere' }
  const asked = new KubernetesApi(access, 50).list('/x', new AbortController().signal)
  await expect(asked).rejects.toThrow('the Kubernetes API does not answer within 0.05 s')
  silent.closeAllConnections()
  silent.close()
})
