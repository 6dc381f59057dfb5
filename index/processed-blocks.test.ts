import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BlockId, Context, ReplicaId } from './context-block.ts'
import { ProcessedBlocks } from './processed-blocks.ts'

const context = (...blocks: string[]): Context => blocks as BlockId[]
const [one, two] = ['one', 'two'] as [ReplicaId, ReplicaId]

test('a block counts for the replica that processed it last', () => {
  const processed = new ProcessedBlocks(10)
  processed.note(one, 't', context('a', 'b', 'c'))
  processed.note(two, 't', context('c'))
  expect(processed.sizesOn('t', context('c', 'b', 'a', 'x'), [1, 10, 100, 1_000])).toEqual(
    new Map([
      [two, 1],
      [one, 110],
    ]),
  )
})

test('tenants never meet, whatever they are called', () => {
  const processed = new ProcessedBlocks(10)
  processed.note(one, 't', context('a'))
  for (const tenant of ['', 'u', 'a t', ' t', 't ']) expect(processed.sizesOn(tenant, context('a'), [1]).size).toBe(0)
})

test('a replica that began anew has processed nothing, until it does again', () => {
  const processed = new ProcessedBlocks(10)
  processed.note(one, 't', context('a', 'b'))
  processed.forget(one)
  processed.forget(two)
  expect(processed.sizesOn('t', context('a', 'b'), [1, 1]).size).toBe(0)
  processed.note(one, 't', context('b'))
  expect(processed.sizesOn('t', context('a', 'b'), [1, 10])).toEqual(new Map([[one, 10]]))
})

test('the blocks processed most recently are remembered, as many as there may be', () => {
  const note = fc.record({
    replica: fc.constantFrom(one, two),
    blocks: fc.array(fc.constantFrom(...'abcdefgh'), { maxLength: 6 }),
  })
  fc.assert(
    fc.property(fc.array(note, { maxLength: 30 }), (notes) => {
      const processed = new ProcessedBlocks(5)
      let model: [string, ReplicaId][] = []
      for (const { replica, blocks } of notes) {
        processed.note(replica, 't', context(...blocks))
        for (const block of blocks) model = [...model.filter(([other]) => other !== block), [block, replica]]
        model = model.slice(-5)
        expect(processed.size).toBe(model.length)
        for (const block of 'abcdefgh') {
          const on = model.find(([other]) => other === block)?.[1]
          expect([...processed.sizesOn('t', context(block), [1]).keys()]).toEqual(on === undefined ? [] : [on])
        }
      }
    }),
  )
})

test('a block is known for whoever sent it, and for all once two have', () => {
  const processed = new ProcessedBlocks(10)
  const a = context('a')
  const knownTo = (replica: ReplicaId, ...users: (string | undefined)[]): boolean[] =>
    users.map((user) => processed.has(replica, 't', a[0]!, user))
  processed.note(one, 't', a, 'u')
  processed.note(one, 't', a, 'u')
  expect(knownTo(one, 'u', 'v', undefined)).toEqual([true, false, true])
  processed.note(two, 't', a, 'v')
  expect([knownTo(one, 'u', 'v'), knownTo(two, 'u', 'v')]).toEqual([
    [true, false],
    [false, true],
  ])
  processed.note(one, 't', a, 'v')
  processed.note(one, 't', a, 'u')
  expect(knownTo(one, 'u', 'v', 'w')).toEqual([true, true, true])
  expect(knownTo(two, 'u', 'v')).toEqual([false, true])
  processed.forget(one)
  processed.note(one, 't', a)
  expect(knownTo(one, 'w', undefined)).toEqual([true, true])
  processed.note(one, 't', a, 'u')
  expect([knownTo(one, 'w'), processed.size]).toEqual([[true], 1])
})

test('each replica that processed a block is known, until it begins anew', () => {
  const processed = new ProcessedBlocks(10)
  processed.note(one, 't', context('a', 'b'))
  processed.note(two, 't', context('b'))
  const known = (replica: ReplicaId): string[] =>
    context('a', 'b', 'c').filter((block) => processed.has(replica, 't', block))
  expect([known(one), known(two)]).toEqual([['a', 'b'], ['b']])
  expect(processed.has(one, 'u', context('a')[0]!)).toBe(false)
  processed.forget(one)
  expect([known(one), known(two)]).toEqual([[], ['b']])
  processed.note(one, 't', context('b'))
  expect([known(one), known(two)]).toEqual([['b'], ['b']])
})
