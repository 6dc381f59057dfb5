import { describe, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import { findExchange, isComplete, readRecordings } from '#engine-adapters/recorder/read-recorded.fixture.ts'
import type { ReplicaId, RequestId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { ReplicaMirror } from '../replicas/mirror/replica-mirror.ts'

const complete = readRecordings()
  .filter(isComplete)
  .map((recording) => [`${recording.engine} ${recording.version}`, recording] as const)

describe.each(complete)('%s', (_, recording) => {
  const reported = new Set(recording.reports!.map(({ request_id }) => request_id))

  test.each([
    ['chat', 1, false],
    ['completions of two prompts', 2, true],
    ['generate of two prompts', 2, true],
  ])('reports %s by the ids that are expected of it', (name, prompts, isList) => {
    if (name.startsWith('generate') && recording.engine === 'vllm') return
    const exchange = findExchange(recording, name)
    const request = (exchange.request_id ?? (exchange.body as { rid: string }).rid) as RequestId
    for (const id of adapterFor(recording.engine).promptIds(request, { count: prompts, isList }))
      expect(reported).toContain(id)
  })

  test('reports of requests that were not sent by us, health probes too, change nothing that is believed', async () => {
    const mirror = new CacheMirror({ maxRequests: 10, maxBlocks: 100 })
    const replica = new ReplicaMirror('gpu-0' as ReplicaId, mirror)
    await replica.takeSnapshot(async () => ({ generation: 'g', sequence: 0, requests: [] }))
    const events = [
      { type: 'stored', request_id: 'HEALTH_CHECK_1795286309.97', cached_tokens: 1 },
      ...recording.reports!.map(({ type, request_id, cached_tokens }) => ({ type, request_id, cached_tokens })),
    ]
    expect(await replica.takeEvents(async () => ({ generation: 'g', sequence: 1, events }))).toEqual({ sequence: 1 })
    expect(replica.cache.mirror.statistics).toMatchObject({ requests: 0, cachedTokens: 0 })
  })
})
