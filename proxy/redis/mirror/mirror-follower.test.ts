import { beforeEach, describe, expect, test } from 'vitest'
import { digestOf, type ReplicaId, type RequestId, toBlockId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import { type MirrorRecord, type RecordKind, writePrompt } from '../codec/mirror-entry.ts'
import { MirrorChanges } from './mirror-changes.ts'
import { MirrorFollower } from './mirror-follower.ts'

const request = 'r' as RequestId
const scope = digestOf('system')
const prompt = {
  contexts: [{ scope, blocks: [toBlockId('x')], sizes: [100], ends: [200] }],
  prefixes: [scope, digestOf('system|x')],
  ends: [100, 200],
  length: 300,
}
const stamp = { generation: 'g', born: 1, sequence: 0 }

describe('records that another proxy wrote, while ours of the same request wait', () => {
  let mirror: CacheMirror
  let changes: MirrorChanges
  let follower: MirrorFollower
  let bytes: Buffer

  beforeEach(() => {
    mirror = new CacheMirror({ maxRequests: 10, maxBlocks: 100 })
    changes = new MirrorChanges()
    const replica = new ReplicaMirror('engine' as ReplicaId, mirror)
    follower = new MirrorFollower(replica.cache, changes, { stamp, noteReset: () => {} })
    mirror.apply({ type: 'sent', request, prompt })
    bytes = writePrompt(mirror.recall(request)!.prompt)!
  })

  const record = (kind: RecordKind, heldLength = 100): MirrorRecord => {
    const isWhole = kind === 'sent' || kind === 'known'
    const counts = { tokensPerCharacter: undefined, reportedTokens: undefined }
    return { kind, request, heldLength, ...counts, prompt: isWhole ? bytes : undefined }
  }
  const held = (): number | undefined => mirror.heldOf(request)?.cachedLength

  test('that a request is gone: it stays if it was sent since, and goes once that is told', () => {
    follower.take(record('gone'), 'as late', stamp)
    expect(mirror.has(request)).toBe(true)
    changes.delete(request)
    follower.take(record('gone'), 'as late', stamp)
    expect(mirror.has(request)).toBe(false)
  })

  test('that a request is there: it stays gone until that is told', () => {
    mirror.apply({ type: 'failed', request })
    follower.take(record('sent'), 'as late', stamp)
    expect(mirror.has(request)).toBe(false)
    changes.delete(request)
    follower.take(record('known'), 'as late', stamp)
    expect([mirror.has(request), changes.get(request)]).toEqual([false, 'gone'])
    changes.delete(request)
    follower.take(record('sent'), 'as late', stamp)
    expect(mirror.has(request)).toBe(true)
  })

  test('how much is cached: ours counts, unless it was only counted here, or is told since Redis lost it', () => {
    follower.take(record('held'), 'as late', stamp)
    expect(held()).toBe(300)
    changes.delete(request)
    mirror.apply({ type: 'used', request, promptTokens: 60 })
    follower.take(record('held', 200), 'as late', stamp)
    expect([held(), mirror.densityOf(request), changes.get(request)]).toEqual([200, 0.2, 'counted'])
    changes.put(request, 'known')
    follower.take(record('known', 150), 'as late', stamp)
    expect([held(), changes.get(request)]).toEqual([150, undefined])
  })

  test('what is told in knowledge of more reports counts, whatever waits', () => {
    changes.delete(request)
    changes.put(request, 'held')
    follower.take(record('held'), 'later', stamp)
    expect([held(), changes.get(request)]).toEqual([100, 'counted'])
  })

  test('what is told in knowledge of fewer reports is told again as it is known here', () => {
    changes.delete(request)
    follower.take(record('held'), 'earlier', stamp)
    expect([held(), changes.get(request)]).toEqual([300, 'held'])
    changes.delete(request)
    follower.take(record('held', 300), 'earlier', stamp)
    expect(changes.get(request)).toBeUndefined()
  })
})
