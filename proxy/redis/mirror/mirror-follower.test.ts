import { beforeEach, describe, expect, test } from 'vitest'
import { digestOf, type ReplicaId, type RequestId, toBlockId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { ReplicaMirror } from '../../replicas/mirror/replica-mirror.ts'
import { MirrorChanges } from './mirror-changes.ts'
import type { FedRecord } from './mirror-feed.ts'
import { MirrorFollower } from './mirror-follower.ts'

const request = 'r' as RequestId
const scope = digestOf('system')
const prompt = {
  contexts: [{ scope, blocks: [toBlockId('x')], sizes: [100], ends: [200] }],
  prefixes: [scope, digestOf('system|x')],
  ends: [100, 200],
  length: 300,
}

describe('records that another proxy wrote before ours', () => {
  let mirror: CacheMirror
  let changes: MirrorChanges
  let follower: MirrorFollower

  beforeEach(() => {
    mirror = new CacheMirror({ maxRequests: 10, maxBlocks: 100 })
    changes = new MirrorChanges()
    follower = new MirrorFollower(
      new ReplicaMirror('engine' as ReplicaId, mirror),
      changes,
      {
        stamp: { epoch: 1, sequence: 0 },
        isPast: () => false,
        noteReset: () => {},
      },
      () => 0,
    )
    mirror.apply({ type: 'sent', request, prompt })
  })

  /** Takes what waits to be written, as if Redis had accepted it. */
  function write(): void {
    for (const [request] of changes.take()) follower.wrote(request)
  }
  const record = (kind: FedRecord['kind']): FedRecord => ({
    kind,
    bucket: 0,
    request,
    head: { epoch: 1, sequence: 0, heldLength: 100, tokensPerCharacter: undefined, reportedTokens: undefined },
    prompt: () => mirror.recall(request)?.prompt as ReturnType<FedRecord['prompt']>,
  })

  test('that a request is gone: it stays until the feed says so after our record', () => {
    write()
    follower.take(record('gone'), false)
    expect(mirror.has(request)).toBe(true)
    follower.take(record('written'), true)
    follower.take(record('gone'), false)
    expect(mirror.has(request)).toBe(false)
  })

  test('that a request is there: it stays gone until the feed says so after our record', () => {
    write()
    follower.take(record('written'), true)
    const other = record('written')
    const prompt = other.prompt()
    mirror.apply({ type: 'failed', request })
    write()
    follower.take({ ...other, prompt: () => prompt }, false)
    expect(mirror.has(request)).toBe(false)
    follower.take(record('gone'), true)
    follower.take({ ...other, prompt: () => prompt }, false)
    expect(mirror.has(request)).toBe(true)
  })

  test('nothing is waited for if the feed goes on behind our record', () => {
    write()
    follower.skipped()
    follower.take(record('gone'), false)
    expect(mirror.has(request)).toBe(false)
  })
})
