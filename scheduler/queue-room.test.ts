import fc from 'fast-check'
import { expect, test } from 'vitest'
import { QueueRoom } from './queue-room.ts'

function fill(room: QueueRoom, tenant: string): number {
  for (let taken = 0; ; taken++) if (!room.take(tenant)) return taken
}

test('one tenant fills half of the room, the next half of what is left', () => {
  const room = new QueueRoom(1_000)
  expect(fill(room, 'a')).toBe(500)
  expect(fill(room, 'b')).toBe(250)
  expect(room.take('a')).toBe(false)
})

test('greedy tenants that take turns end up with equal shares, and there is always a place for a newcomer', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 100, max: 1_000 }), (tenants, capacity) => {
      const room = new QueueRoom(capacity)
      const held = new Array<number>(tenants).fill(0)
      for (let round = 0; round < capacity; round++) {
        for (let tenant = 0; tenant < tenants; tenant++) held[tenant]! += Number(room.take(`tenant ${tenant}`))
      }
      expect(Math.max(...held) - Math.min(...held)).toBeLessThanOrEqual(1)
      expect(Math.min(...held)).toBeGreaterThanOrEqual(Math.floor(capacity / (tenants + 1)))
      expect(room.take('newcomer')).toBe(true)
    }),
  )
})

test('places given back can be taken again, and none is ever given that was not taken', () => {
  const room = new QueueRoom(3)
  expect([room.take('a'), room.take('a'), room.take('a')]).toEqual([true, true, false])
  room.give('b')
  expect(room.taken).toBe(2)
  room.give('a')
  room.give('a')
  room.give('a')
  expect([room.taken, room.take('b'), room.take('b')]).toEqual([0, true, true])
})
