import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { HeavyTurns } from './event-loop.ts'

test('pieces run one at a time, in the order asked for, and the event loop goes round between them', async () => {
  const turns = new HeavyTurns()
  const order: string[] = []
  let rounds = 0
  let isOver = false
  const loop = (async () => {
    while (!isOver) {
      await nextTurn()
      rounds += 1
    }
  })()
  const ran: number[] = []
  const pieces = ['a', 'b', 'c'].map(async (name) => {
    await turns.take()
    order.push(name)
    ran.push(rounds)
  })
  await Promise.all(pieces)
  isOver = true
  await loop
  expect(order).toEqual(['a', 'b', 'c'])
  expect(new Set(ran).size).toBe(3)
})
