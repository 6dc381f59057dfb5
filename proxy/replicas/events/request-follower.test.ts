import { expect, test, vi } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import type { Replica } from '../replica.ts'
import { RequestFollower } from './request-follower.ts'

test('a question for tokens that fails leaves its request without tokens', async () => {
  const cache = { began: vi.fn(), learned: vi.fn() }
  const replica = {
    cache,
    events: { blockSize: 16 },
    tokens: { tokensOf: () => Promise.reject(new Error('not read')) },
    replicaMirror: { state: { mode: 'exact' } },
  } as unknown as Replica
  const ids = ['a'] as RequestId[]
  const follower = new RequestFollower(replica, 'completions', ids)
  follower.sent({ path: '/v1/completions', method: 'POST', headers: [], body: Buffer.from('{}') }, [])
  await vi.waitFor(() => expect(cache.learned).toHaveBeenCalledExactlyOnceWith(ids, undefined, 16))
})
