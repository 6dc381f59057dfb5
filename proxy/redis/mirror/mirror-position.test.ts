import { expect, test } from 'vitest'
import type { RequestId } from '#index/context-block.ts'
import { MirrorPosition } from './mirror-position.ts'

const counted = { heldLength: 1, tokensPerCharacter: undefined, reportedTokens: undefined }
const told = { anew: undefined, generation: '', born: 0, sequence: 0, isWhole: true, reuse: null, at: 1_000 }

function entriesKept(entries: number, promptBytes: number): number {
  const replica = { state: { sequence: 0 }, reuse: undefined, adopt: () => {}, adoptReuse: () => {} }
  const position = new MirrorPosition(replica as never, 86_400, () => 1_000)
  const prompt = Buffer.alloc(promptBytes)
  const records = [{ kind: 'sent' as const, request: 'r' as RequestId, ...counted, prompt }]
  for (let i = 1; i <= entries; i++) position.passed(`1-${i}`, { ...told, tag: i, before: i - 1, records })
  return entries - Number(position.oldestId.split('-')[1]) + 1
}

test('a log keeps many requests of common prompts', () => {
  expect(entriesKept(70_000, 2_900)).toBeGreaterThan(60_000)
})

test('a log keeps fewer requests of long prompts, so that it never takes a gigabyte', () => {
  expect(entriesKept(20_000, 200_000) * 200_000).toBeLessThan(320e6)
})
