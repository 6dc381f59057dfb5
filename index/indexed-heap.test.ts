import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IndexedHeap } from './indexed-heap.ts'

interface Item {
  readonly key: number
}

const step = fc.oneof(
  fc.record({ add: fc.nat(9) }),
  fc.record({ removeAt: fc.nat(20) }),
  fc.constant({ removeFirst: true }),
)

test('the first is always the least, whatever is taken out of the middle', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new IndexedHeap<Item>((a, b) => a.key < b.key)
      let held: Item[] = []
      const add = (item: Item): void => {
        held.push(item)
        heap.add(item)
      }
      const remove = (item: Item | undefined): void => {
        if (!item) return
        expect(heap.remove(item)).toBe(true)
        expect(heap.remove(item)).toBe(false)
        held = held.filter((one) => one !== item)
      }
      for (const next of steps) {
        if ('add' in next) add({ key: next.add })
        else remove('removeAt' in next ? held[next.removeAt] : heap.first)
        const [least] = held.map(({ key }) => key).sort()
        expect([heap.size, heap.first?.key]).toEqual([held.length, least])
      }
    }),
  )
})
