import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PairOrders } from './pair-orders.ts'

const slots = 12

type Step = 'restore' | { forget: number } | { first: number; second: number }

const slot = fc.nat({ max: slots - 1 })
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ first: slot, second: slot }).filter(({ first, second }) => first !== second),
    fc.record({ forget: slot }),
    fc.constant('restore' as const),
  ),
  { maxLength: 200 },
)

/** The same in a map. */
class MapOfOrders {
  readonly #firsts = new Map<string, number>()

  meet(first: number, second: number): string {
    const pair = [first, second].toSorted((a, b) => a - b).join(' ')
    const before = this.#firsts.get(pair)
    this.#firsts.set(pair, first)
    if (before === undefined) return 'new'
    return before === first ? 'equal' : 'flipped'
  }

  forget(slot: number): void {
    for (const pair of this.#firsts.keys()) if (pair.split(' ').includes(`${slot}`)) this.#firsts.delete(pair)
  }
}

test('tells how two slots stood before, as a map would, also once slots were forgotten and it was restored', () => {
  fc.assert(
    fc.property(steps, (steps) => {
      const expected = new MapOfOrders()
      let orders = new PairOrders(slots)
      for (const step of steps) {
        if (step === 'restore') {
          const { bits } = orders
          orders = new PairOrders(slots)
          orders.bits.set(bits)
        } else if ('forget' in step) {
          orders.forget(step.forget, slots)
          expected.forget(step.forget)
        } else expect(orders.meet(step.first, step.second)).toBe(expected.meet(step.first, step.second))
      }
    }),
  )
})
