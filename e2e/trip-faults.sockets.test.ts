import { afterEach, describe, expect, test, vi } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { GainFollower } from '#proxy/gain/gain-follower.ts'
import { Prover } from '#proxy/idle/prove/prover.ts'
import { AnswerName } from '#proxy/replicas/mirror/answer-name.ts'
import { ReplicaCache } from '#proxy/replicas/mirror/replica-cache.ts'
import { postJson, ragRequest, startTestProxy } from './start-test-proxy.ts'

afterEach(() => vi.restoreAllMocks())

const fault = (): never => {
  throw new Error('a fault of ours')
}

describe.each([
  ['before it is sent', 500, () => vi.spyOn(Prover.prototype, 'follow').mockImplementationOnce(fault)],
  ['when it is sent', 200, () => vi.spyOn(GainFollower.prototype, 'sent').mockImplementationOnce(fault)],
  ['while its answer comes', 200, () => vi.spyOn(AnswerName.prototype, 'onChunk').mockImplementation(fault)],
  ['at its end', 200, () => vi.spyOn(GainFollower.prototype, 'ended').mockImplementationOnce(fault)],
] as const)('a fault of ours %s', (_, status, breakOnce) => {
  test('leaves no request running, and the next one is served', async () => {
    const proxy = await startTestProxy()
    try {
      const running = new Set<RequestId>()
      const { sent, ended } = ReplicaCache.prototype
      vi.spyOn(ReplicaCache.prototype, 'sent').mockImplementation(function (this: ReplicaCache, id, ...rest) {
        running.add(id)
        sent.call(this, id, ...rest)
      })
      vi.spyOn(ReplicaCache.prototype, 'ended').mockImplementation(function (this: ReplicaCache, ids) {
        for (const id of ids) running.delete(id)
        ended.call(this, ids)
      })
      breakOnce()
      const send = () =>
        postJson(`${proxy.url}/v1/chat/completions`, ragRequest('which?', ['first text', 'second text']))
      const first = await send()
      expect(first.status).toBe(status)
      await first.text()
      const second = await send()
      expect(second.status).toBe(200)
      await second.text()
      await vi.waitFor(() => expect(running.size).toBe(0))
    } finally {
      await proxy.close()
    }
  })
})
