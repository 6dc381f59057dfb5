import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Placement } from './placement.ts'

const blocks = fc.array(fc.integer({ min: -1, max: 5 }), { minLength: 1, maxLength: 10 })

test('whatever is placed first, all are placed', () => {
  fc.assert(
    fc.property(blocks, fc.infiniteStream(fc.nat(5)), (context, wishes) => {
      const scratch: number[] = []
      const placement = new Placement(context, scratch)
      for (let i = 0; i < 2 * context.length; i++) placement.tryPlace(wishes.next().value)
      placement.close()
      expect(placement.order.toSorted((a, b) => a - b)).toEqual([...context.keys()])
      // equal blocks keep their order
      for (const block of new Set(context)) {
        const ranks = placement.order.filter((rank) => context[rank] === block)
        if (block >= 0) expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
      }
      expect(scratch.every((rank) => rank === 0)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('what is taken back can be placed again', () => {
  fc.assert(
    fc.property(blocks, fc.array(fc.nat(5)), (context, wishes) => {
      const placement = new Placement(context, [])
      placement.tryPlace(context[0]!)
      const before = [...placement.order]
      const had = [0, 1, 2, 3, 4, 5].map((block) => placement.has(block))
      for (const wish of wishes) placement.tryPlace(wish)
      placement.undo(before.length)
      expect(placement.order).toEqual(before)
      expect([0, 1, 2, 3, 4, 5].map((block) => placement.has(block))).toEqual(had)
    }),
  )
})

test('the best rank that is left goes first where nothing is wished', () => {
  const placement = new Placement([3, -1, 3, 4], [])
  placement.tryPlace(4)
  placement.close()
  expect(placement.order).toEqual([3, 0, 1, 2])
})
