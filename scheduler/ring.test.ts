import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Ring } from './ring.ts'

const step = fc.oneof(
  fc.constant({ turn: true }),
  fc.record({ add: fc.nat(1_000) }),
  fc.record({ removeAt: fc.nat(8) }),
)

test('behaves as a list whose head goes to its end', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ring = new Ring<number>()
      let list: number[] = []
      for (const next of steps) {
        if ('add' in next && !list.includes(next.add)) {
          list.push(next.add)
          ring.add(next.add)
        } else if ('removeAt' in next) {
          const item = list[next.removeAt] ?? -1
          list = list.filter((one) => one !== item)
          ring.remove(item)
        } else if ('turn' in next) {
          list = [...list.slice(1), ...list.slice(0, 1)]
          ring.turn()
        }
        expect([ring.head, ring.size]).toEqual([list[0], list.length])
      }
    }),
  )
})
