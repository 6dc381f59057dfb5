import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MaxHeap } from './merge-contexts.ts'

test('gives the heaviest first, of equals the smallest, whatever comes in between', () => {
  const steps = fc.array(fc.option(fc.record({ item: fc.nat(50), weight: fc.nat(9) })), { maxLength: 80 })
  fc.assert(
    fc.property(steps, (history) => {
      const heap = new MaxHeap()
      const model: { item: number; weight: number }[] = []
      for (const pushed of history) {
        if (pushed) {
          heap.push(pushed.item, pushed.weight)
          model.push(pushed)
        } else {
          model.sort((a, b) => b.weight - a.weight || a.item - b.item)
          expect(heap.pop()).toBe(model.shift()?.item)
        }
        expect(heap.size).toBe(model.length)
      }
    }),
  )
})
