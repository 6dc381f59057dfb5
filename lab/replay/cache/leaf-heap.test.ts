import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LeafHeap } from './leaf-heap.ts'

const change = fc.oneof(
  fc.record({ put: fc.nat(20), key: fc.nat(5) }),
  fc.record({ remove: fc.nat(20) }),
  fc.record({ rekey: fc.nat(7) }),
)

test('its first item is the one of the lowest key and order, whatever came and went before', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const heap = new LeafHeap<number>()
      const known = new Map<number, number>()
      for (const what of changes) {
        if ('put' in what) {
          heap.put(what.put, what.key, what.put)
          known.set(what.put, what.key)
        } else if ('remove' in what) {
          heap.remove(what.remove)
          known.delete(what.remove)
        } else {
          const keyOf = (item: number): number => (item * what.rekey) % 5
          heap.rekey(keyOf)
          for (const item of known.keys()) known.set(item, keyOf(item))
        }
        const [first] = [...known].sort(([a, x], [b, y]) => x - y || a - b)[0] ?? []
        expect([heap.min, heap.size]).toEqual([first, known.size])
      }
    }),
  )
})
