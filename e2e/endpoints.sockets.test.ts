import { afterEach, expect, test, vi } from 'vitest'
import { emulatorDefaults, startEmulator } from '#emulator/emulator.ts'
import { KubernetesApiDouble, type PodDouble } from '#proxy/replicas/discovery/kubernetes-api-double.fixture.ts'
import { documentRequest } from './placed-blocks.ts'
import { postJson, startTestProxy } from './start-test-proxy.ts'

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

test('pods of a Service come and go under load, 1 to 3 to 1, and no request fails', async () => {
  const api = new KubernetesApiDouble()
  const kubernetes = await api.start()
  ending.push(() => api.close())
  const engines = await Promise.all(
    Array.from({ length: 3 }, () => startEmulator({ ...emulatorDefaults, host: '127.0.0.1', port: 0 })),
  )
  const closed = new Set<number>()
  const close = async (i: number): Promise<void> => {
    if (closed.has(i)) return
    closed.add(i)
    await engines[i]!.close()
  }
  ending.push(() => Promise.all(engines.map((_, i) => close(i))))
  /** On this machine pods differ in their ports, and a slice has one. */
  const put = (i: number, conditions?: PodDouble['conditions']): void =>
    api.put(`vllm-${i}`, 'vllm', [{ name: `pod-${i}`, address: '127.0.0.1', ...(conditions && { conditions }) }], {
      port: Number(new URL(engines[i]!.url).port),
    })
  put(0)
  const proxy = await startTestProxy(undefined, {
    engines: [{ url: 'http://vllm', kind: 'vllm', id: 'gpu', discover: 'endpoints' }],
    checks: { intervalSeconds: 0 },
    kubernetes,
    warmUpSeconds: 1,
  })
  ending.push(() => proxy.close())
  const replicasOf = async (): Promise<string[]> => {
    const { replicas } = (await (await fetch(`${proxy.adminUrl}/v1/mirror`)).json()) as {
      replicas: { replica: string }[]
    }
    return replicas.map(({ replica }) => replica)
  }
  const becomes = (names: string[]): Promise<void> =>
    vi.waitFor(async () => expect((await replicasOf()).sort()).toEqual(names), { timeout: 60_000 })
  const [answers, isOver] = [new Map<string, number>(), new AbortController()]
  let answered = 0
  const client = async (own: number): Promise<void> => {
    for (let i = 0; !isOver.signal.aborted; i++) {
      const body = documentRequest(`q${own}-${i}`, ['ABC', 'DEF', 'GHI'][(own + i) % 3]!, { max_tokens: 4 })
      const answer = await postJson(`${proxy.url}/v1/chat/completions`, body)
      expect(answer.status).toBe(200)
      await answer.text()
      answered += 1
      const replica = answer.headers.get('x-reprise-replica')!
      answers.set(replica, (answers.get(replica) ?? 0) + 1)
    }
  }
  const clients = Array.from({ length: 4 }, (_, i) => client(i))
  const more = async (count: number): Promise<void> => {
    const until = answered + count
    await vi.waitFor(() => expect(answered).toBeGreaterThan(until), { timeout: 60_000 })
  }
  await more(10)
  // one that is not ready gets nothing yet
  put(1, { ready: false })
  put(2)
  await becomes(['gpu-pod-0', 'gpu-pod-2'])
  put(1)
  await becomes(['gpu-pod-0', 'gpu-pod-1', 'gpu-pod-2'])
  await more(20)
  put(0, { ready: false, serving: true, terminating: true })
  api.endWatches(true)
  api.delete('vllm-1')
  await becomes(['gpu-pod-2'])
  await Promise.all([close(0), close(1)])
  await more(10)
  // the API is away: those that are known stay
  api.refuses = 503
  api.breakOff()
  await more(10)
  isOver.abort()
  await Promise.all(clients)
  expect(answers.get('gpu-pod-0')).toBeGreaterThan(0)
  expect(answers.get('gpu-pod-2')).toBeGreaterThan(0)
}, 240_000)
