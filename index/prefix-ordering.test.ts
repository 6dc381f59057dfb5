import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context, RequestId } from './context-block.ts'
import { contexts, describeOrderingIndex, play, sizesOf, steps } from './ordering-index.contract.ts'
import { PrefixOrdering } from './prefix-ordering.ts'

describeOrderingIndex('PrefixOrdering', () => new PrefixOrdering())

const context = (blocks: string): Context => [...blocks] as unknown as Context
const even = (blocks: Context): number[] => blocks.map(() => 100)

function orderIn(sent: readonly string[], received: string, sizes: (blocks: Context) => number[] = even): string {
  const index = new PrefixOrdering()
  sent.forEach((blocks, i) => {
    index.insert(context(blocks), sizes(context(blocks)), String(i) as RequestId)
  })
  const blocks = context(received)
  return index
    .order(blocks, sizes(blocks))
    .order.map((place) => blocks[place]!)
    .join('')
}

test('the longest prefix that was sent and is all in the context goes first', () => {
  expect(orderIn(['abcd', 'abx'], 'xcba')).toBe('abcx')
})

test('what was sent behind a block that is not in the context is of no use', () => {
  // no prefix of "zab" is in the context: a and b only promise something, and come before what nobody holds
  expect(orderIn(['zab'], 'xba')).toBe('bax')
})

test('the larger prefix counts, not the one with more blocks', () => {
  const sizes = (blocks: Context): number[] => blocks.map((block) => (String(block) === 'A' ? 1000 : 10))
  expect(orderIn(['bcd', 'Ae'], 'bcdA', sizes)).toBe('Abcd')
})

test('the rest follows by what it promises: how many hold it, and how large it is', () => {
  expect(orderIn(['pa', 'qa', 'rb'], 'xba')).toBe('abx')
})

test('blocks with the same content keep their order among themselves', () => {
  const index = new PrefixOrdering()
  const blocks = context('aab')
  index.insert(blocks, even(blocks), 'first' as RequestId)
  // their labels may make them differ in size
  expect(index.order(context('aab'), [10, 20, 10]).order).toEqual([0, 1, 2])
})

/** What an engine would reuse of a sequence: the longest part of its front that was sent before. */
function reusable(sent: Context, held: Iterable<Context>): number {
  let most = 0
  for (const other of held) {
    let length = 0
    while (length < sent.length && sent[length] === other[length]) length++
    most = Math.max(
      most,
      sizesOf(sent.slice(0, length)).reduce((sum, size) => sum + size, 0),
    )
  }
  return most
}

test('no order of the context would let the engine reuse more', () => {
  fc.assert(
    fc.property(steps, contexts, (history, received) => {
      const index = new PrefixOrdering()
      const held = [...play(index, history).values()]
      const sent = index.order(received, sizesOf(received)).order.map((place) => received[place]!)
      let best = 0
      for (const other of held) {
        const left = [...received]
        const usable = other.findIndex((block) => {
          const at = left.indexOf(block)
          if (at >= 0) left.splice(at, 1)
          return at < 0
        })
        const prefix = usable < 0 ? other : other.slice(0, usable)
        best = Math.max(
          best,
          sizesOf(prefix).reduce((sum, size) => sum + size, 0),
        )
      }
      expect(reusable(sent, held)).toBe(best)
    }),
    { numRuns: 500 },
  )
})

test('what was sent is sent again in the same order, if no other request holds the same blocks', () => {
  fc.assert(
    fc.property(steps, contexts, (history, received) => {
      const index = new PrefixOrdering()
      const held = play(index, history)
      const context = [...new Set(received)] as Context
      const ordered = (): Context => index.order(context, sizesOf(context)).order.map((place) => context[place]!)
      const sent = ordered()
      index.insert(sent, sizesOf(sent), 'last' as RequestId)
      const others = [...held.values()].filter((other) => context.every((block) => other.includes(block)))
      if (others.length === 0) expect(ordered()).toEqual(sent)
    }),
    { numRuns: 500 },
  )
})

test('a very long context neither overflows nor stalls', () => {
  const index = new PrefixOrdering()
  const blocks = Array.from({ length: 20_000 }, (_, i) => `block ${i}`) as unknown as Context
  // one request after another holds one block more: a node for each level
  for (let length = 1; length <= 2_000; length++) {
    const part = blocks.slice(0, length)
    index.insert(part, even(part), String(length) as RequestId)
  }
  const { order } = index.order(blocks, even(blocks))
  expect(order.slice(0, 2_000)).toEqual([...Array(2_000).keys()])
  expect(order).toHaveLength(20_000)
})
