import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SharedBlocks } from '../columns/block-table.ts'
import type { Context, RequestId } from '../context-block.ts'
import { HistoryWindow } from './demand-history.ts'
import {
  type Cut,
  contexts,
  describeOrderingIndex,
  play as playHistory,
  type Step,
  sizesOf,
  steps,
} from './ordering-index.contract.ts'
import { PrefixOrdering } from './prefix-ordering.ts'

const cut: Cut<PrefixOrdering> = (index, request, kept) => index.cut(request, kept.length)
const play = (index: PrefixOrdering, history: readonly Step[]): Map<RequestId, Context> =>
  playHistory(index, history, cut)

describeOrderingIndex('PrefixOrdering', () => new PrefixOrdering())
describeOrderingIndex('PrefixOrdering whose requests are cut', () => new PrefixOrdering(), cut)

test('it holds nothing any more once it is cleared', () => {
  fc.assert(
    fc.property(steps, steps, contexts, (history, later, context) => {
      const index = new PrefixOrdering()
      for (const request of [...play(index, history).keys()]) expect(index.pathOf(request)).toBeDefined()
      index.clear()
      expect([index.nodes, index.requests]).toEqual([0, 0])
      expect(index.order(context, sizesOf(context)).searchPath).toEqual([])
      const held = play(index, later)
      expect(index.requests).toBe(held.size)
    }),
  )
})

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
  // no prefix of "zab" is in the context; a and b were only requested before, and precede what nobody holds
  expect(orderIn(['zab'], 'xba')).toBe('bax')
})

test('the larger prefix counts, not the one with more blocks', () => {
  const sizes = (blocks: Context): number[] => blocks.map((block) => (String(block) === 'A' ? 1000 : 10))
  expect(orderIn(['bcd', 'Ae'], 'bcdA', sizes)).toBe('Abcd')
})

test('documents that nobody asked for keep their ranks behind a prefix that is known', () => {
  const sizes = (blocks: Context): number[] => blocks.map((block) => (String(block) === 'y' ? 1000 : 10))
  expect(orderIn(['ab'], 'abxyz', sizes)).toBe('abxyz')
  expect(orderIn(['ab'], 'xyab', sizes)).toBe('abxy')
})

test('the rest follows by the demand for it: what many asked for goes before what one did', () => {
  const others = ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o']
  expect(orderIn(['pa', 'qa', 'ra', 'sb', ...others], 'xba')).toBe('abx')
})

test('of equal demand the larger block goes first', () => {
  const sizes = (blocks: Context): number[] => blocks.map((block) => (String(block) === 'b' ? 500 : 100))
  expect(orderIn(['pa', 'qb'], 'xab', sizes)).toBe('bax')
})

test('what is asked for together is placed together', () => {
  // c is requested as often as d, but together with a
  expect(orderIn(['pac', 'qca', 'rd', 'sd', 'tb', 'ub'], 'dac')).toMatch(/^(ac|ca)d$/)
})

test('blocks that were always asked for together keep their ranks when the cache has lost them', () => {
  const index = new PrefixOrdering()
  const sizes = [10, 20, 30]
  const shots = context('abc')
  for (const request of ['1', '2'] as RequestId[]) {
    index.insert(shots, sizes, request)
    index.remove(request)
  }
  expect(index.order(shots, sizes).order).toEqual([0, 1, 2])
  // behind what one of them is asked for without the others, demand decides again
  index.insert(context('bx'), [20, 20], '3' as RequestId)
  index.remove('3' as RequestId)
  expect(index.order(shots, even(shots)).order).toEqual([1, 0, 2])
})

test('demand is remembered when the cache has lost what was sent', () => {
  const index = new PrefixOrdering()
  for (const [i, blocks] of ['pa', 'qa', 'rb'].entries()) {
    index.insert(context(blocks), even(context(blocks)), String(i) as RequestId)
    index.remove(String(i) as RequestId)
  }
  const ordering = index.order(context('xya'), [100, 100, 100])
  expect(ordering).toEqual({ order: [2, 0, 1], searchPath: [] })
})

test('popularity that is over is forgotten', () => {
  const index = new PrefixOrdering({ history: new HistoryWindow(30) })
  const sent = [...Array<string>(30).fill('pa'), ...Array<string>(10).fill('qb')]
  for (const [i, blocks] of sent.entries()) {
    index.insert(context(blocks), even(context(blocks)), String(i) as RequestId)
    index.remove(String(i) as RequestId)
  }
  expect(index.order(context('xab'), [100, 100, 100]).order).toEqual([2, 0, 1])
})

test('blocks with the same content keep their order among themselves', () => {
  const index = new PrefixOrdering()
  const blocks = context('aab')
  index.insert(blocks, even(blocks), 'first' as RequestId)
  // equal blocks may differ in size because of their labels
  expect(index.order(context('aab'), [10, 20, 10]).order).toEqual([0, 1, 2])
})

/** Returns the length of the longest prefix of a sequence that was sent before, which an engine would reuse. */
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

/** Returns the most that any order of a context could reuse. */
function mostReusable(received: Context, held: Iterable<Context>): number {
  let most = 0
  for (const other of held) {
    const left = [...received]
    const usable = other.findIndex((block) => {
      const at = left.indexOf(block)
      if (at >= 0) left.splice(at, 1)
      return at < 0
    })
    const prefix = usable < 0 ? other : other.slice(0, usable)
    most = Math.max(
      most,
      sizesOf(prefix).reduce((sum, size) => sum + size, 0),
    )
  }
  return most
}

test('no order of the context would let the engine reuse more, as long as it has evicted nothing', () => {
  fc.assert(
    fc.property(fc.array(contexts, { maxLength: 40 }), contexts, (sent, received) => {
      const index = new PrefixOrdering()
      const history = sent.map((context, id) => ({ act: 'send' as const, id, context }))
      const held = [...play(index, history).values()]
      const order = index.order(received, sizesOf(received)).order.map((place) => received[place]!)
      expect(reusable(order, held)).toBe(mostReusable(received, held))
    }),
    { numRuns: 500 },
  )
})

test('when it evicts, a prefix that may soon be gone gives way to one that is at most a quarter smaller', () => {
  fc.assert(
    fc.property(steps, contexts, (history, received) => {
      const index = new PrefixOrdering()
      const held = [...play(index, history).values()]
      const order = index.order(received, sizesOf(received)).order.map((place) => received[place]!)
      expect(reusable(order, held)).toBeGreaterThanOrEqual(0.75 * mostReusable(received, held))
    }),
    { numRuns: 500 },
  )
})

test('the search path is that of a real node, and what leads there is the front of the answer', () => {
  fc.assert(
    fc.property(steps, contexts, (history, received) => {
      const index = new PrefixOrdering()
      const held = [...play(index, history).entries()]
      const { order, searchPath } = index.order(received, sizesOf(received))
      const sent = order.map((place) => received[place]!)
      if (searchPath.length === 0) {
        expect(reusable(sent, new Map(held).values())).toBe(0)
        return
      }
      // every sequence through the node has the same prefix as the answer
      const through = held.filter(([request]) => {
        const path = index.pathOf(request)!
        return searchPath.every((slot, level) => path[level] === slot)
      })
      expect(through.length).toBeGreaterThan(0)
      for (const [, context] of through) expect(context[0]).toBe(sent[0])
    }),
    { numRuns: 500 },
  )
})

test('an order names each block once', () => {
  fc.assert(
    fc.property(steps, contexts, (history, received) => {
      const index = new PrefixOrdering()
      play(index, history)
      const { order } = index.order(received, sizesOf(received))
      expect(order.toSorted((a, b) => a - b)).toEqual([...received.keys()])
    }),
    { numRuns: 500 },
  )
})

test('what is inserted and evicted again leaves the tree as it was', () => {
  fc.assert(
    fc.property(steps, contexts, (history, added) => {
      const [with_, without] = [new PrefixOrdering(), new PrefixOrdering()]
      const held = play(with_, history)
      play(without, history)
      with_.insert(added, sizesOf(added), 'added' as RequestId)
      with_.remove('added' as RequestId)
      expect([with_.nodes, with_.requests]).toEqual([without.nodes, without.requests])
      for (const request of held.keys()) expect(with_.pathOf(request)).toEqual(without.pathOf(request))
    }),
    { numRuns: 300 },
  )
})

test('it never holds more contexts than it may, and gives up the coldest', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 6 }), (history, maxContexts) => {
      const index = new PrefixOrdering({ maxContexts })
      let sent = 0
      for (const step of history) {
        if (step.act !== 'send') continue
        index.insert(step.context, sizesOf(step.context), String(sent++) as RequestId)
        expect(index.requests).toBe(Math.min(sent, maxContexts))
        expect(index.pathOf(String(sent - 1) as RequestId)).toBeDefined()
      }
      for (let old = 0; old < sent - maxContexts; old++) expect(index.pathOf(String(old) as RequestId)).toBeUndefined()
    }),
  )
})

test('a request that is cut and grows again is one request', () => {
  const index = new PrefixOrdering()
  const [whole, part] = [context('abcd'), context('ab')]
  for (const held of [whole, part, whole, part]) index.insert(held, even(held), 'r' as RequestId)
  expect([index.requests, index.nodes]).toEqual([1, 1])
  expect(index.order(context('dcba'), [1, 1, 1, 1]).order.slice(0, 2)).toEqual([3, 2])
})

test('a request that lost everything and is stored anew has been asked for once', () => {
  const index = new PrefixOrdering()
  const held = context('abcd')
  index.insert(held, even(held), 'r' as RequestId)
  const { bytes } = index
  index.remove('r' as RequestId)
  index.insert(held, even(held), 'r' as RequestId, false)
  expect([index.requests, index.bytes]).toEqual([1, bytes])
})

test('blocks that are given by number are as good as by name, and are let go of when nobody uses them', () => {
  fc.assert(
    fc.property(steps, contexts, (history, received) => {
      const blocks = new SharedBlocks()
      // neither remembers demand
      const byName = new PrefixOrdering({ history: new HistoryWindow(1) })
      const byNumber = new PrefixOrdering({ blocks, history: new HistoryWindow(1) })
      for (const [request, held] of play(new PrefixOrdering(), history)) {
        byName.insert(held, sizesOf(held), request)
        const numbers = blocks.acquireAll(held, sizesOf(held))
        byNumber.insertNumbers(numbers, request, true)
        for (const number of numbers) blocks.release(number)
      }
      const sizes = sizesOf(received)
      expect(byNumber.order(received, sizes).order).toEqual(byName.order(received, sizes).order)
      byNumber.clear()
      expect([blocks.size, blocks.firstRank.some(Boolean), blocks.indexOfBlock.some(Boolean)]).toEqual([
        0,
        false,
        false,
      ])
    }),
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
  // each request has one more block than the one before: one node per level
  for (let length = 1; length <= 2_000; length++) {
    const part = blocks.slice(0, length)
    index.insert(part, even(part), String(length) as RequestId)
  }
  const { order } = index.order(blocks, even(blocks))
  expect(order.slice(0, 2_000)).toEqual([...Array(2_000).keys()])
  expect(order).toHaveLength(20_000)
})
