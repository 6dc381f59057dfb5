import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestId } from '../context-block.ts'
import { ExpiringBelief } from './believed-cache.ts'
import { createMirror, promptOf, sendAll } from './sent-prompts.fixture.ts'

test('what is held at the beginning counts as used then, and ends with its time', () => {
  const mirror = createMirror()
  sendAll(mirror, ['a'], ['b'])
  const belief = new ExpiringBelief(mirror, 1000, (cut) => mirror.apply(cut))
  belief.expire(1000)
  expect(mirror.predictCachedTokens(promptOf(['a']))).toBe(50)
  belief.expire(1001)
  expect(mirror.predictCachedTokens(promptOf(['a']))).toBe(0)
})

test('a prefix that was used again is believed for as long as that', () => {
  const mirror = createMirror()
  const belief = new ExpiringBelief(mirror, 0, (cut) => mirror.apply(cut))
  const send = (now: number, ...blocks: string[]): void => {
    sendAll(mirror, blocks)
    belief.note(blocks.join('') as RequestId, now)
  }
  send(1, 'a', 'b')
  send(2, 'c')
  send(3, 'a', 'd')
  belief.expire(3)
  const predicted = ['ab', 'c', 'ad'].map((names) => mirror.predictCachedTokens(promptOf([...names])))
  expect(predicted).toEqual([50, 25, 75])
})

test('held is exactly what was used since', () => {
  const step = fc.record({ request: fc.nat(8), later: fc.nat(3), isExpiry: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const mirror = createMirror()
      const belief = new ExpiringBelief(mirror, 0, (cut) => mirror.apply(cut))
      const usedAt = new Map<string, number>()
      let now = 0
      for (const { request, later, isExpiry } of steps) {
        now += later
        if (isExpiry) {
          belief.expire(now - 5)
          for (const [id, at] of usedAt) if (at < now - 5) usedAt.delete(id)
        } else {
          sendAll(mirror, [`${request}`])
          belief.note(`${request}` as RequestId, now)
          usedAt.set(`${request}`, now)
        }
        const held = [...Array(9).keys()].map(String).filter((id) => mirror.heldOf(id as RequestId))
        expect(held).toEqual([...usedAt.keys()].sort())
      }
    }),
  )
})
