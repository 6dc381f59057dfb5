import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LruItem, LruList } from './lru-list.ts'

class Item implements LruItem<Item> {
  older: Item | undefined
  newer: Item | undefined
  readonly name: number
  constructor(name: number) {
    this.name = name
  }
}

function namesIn(list: LruList<Item>): number[] {
  const names: number[] = []
  for (let item = list.oldest; item; item = item.newer) names.push(item.name)
  return names
}

describe('LruList', () => {
  it('keeps the order of an array under any appends and removals', () => {
    const operation = fc.record({ kind: fc.constantFrom('append', 'remove'), at: fc.nat(20) })
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const list = new LruList<Item>()
        const model: Item[] = []
        operations.forEach(({ kind, at }, name) => {
          const index = model.length === 0 ? -1 : at % model.length
          const neighbour = model[index]
          if (kind === 'append' || !neighbour) {
            const item = new Item(name)
            list.append(item)
            model.push(item)
          } else {
            list.remove(neighbour)
            model.splice(index, 1)
          }
        })
        expect(namesIn(list)).toEqual(model.map((item) => item.name))
        expect(list.size).toBe(model.length)
      }),
    )
  })
})
