import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context, RequestId } from '#index/context-block.ts'
import { buildIndex } from './build-index.ts'
import type { ContextNode } from './context-index.ts'
import { nodeAt } from './node-at.fixture.ts'

const context = (blocks: string): Context => [...blocks] as unknown as Context
const batchOf = (...contexts: (string | Context)[]): Map<RequestId, Context> =>
  new Map(contexts.map((blocks, i) => [String(i) as RequestId, typeof blocks === 'string' ? context(blocks) : blocks]))
const request = (i: number): RequestId => String(i) as RequestId

test('blocks that are shared stand in the order in which they first appear, unless another order is given', () => {
  const batch = batchOf('dbax', 'abdy')
  expect(nodeAt(buildIndex(batch), [0])?.blocks).toEqual([...'dba'])
  const byName = buildIndex(batch, (a, b) => (a < b ? -1 : 1))
  expect(nodeAt(byName, [0])?.blocks).toEqual([...'abd'])
  expect(byName.contextOf(request(0))).toEqual([...'abdx'])
})

test('contexts with the same blocks share a leaf, whatever their order', () => {
  const index = buildIndex(batchOf('abc', 'xyz', 'cab'))
  expect(index.nodes).toBe(2)
  expect(index.contextOf(request(2))).toEqual([...'abc'])
  expect(nodeAt(index, index.pathOf(request(0))!)).toMatchObject({ requests: 2 })
})

test('contexts that share nothing hang below the root as they are', () => {
  const index = buildIndex(batchOf('ba', 'dc'))
  expect([index.pathOf(request(0)), index.pathOf(request(1))]).toEqual([[0], [1]])
  expect(index.contextOf(request(0))).toEqual([...'ba'])
})

test('nothing and a single context', () => {
  expect(buildIndex(new Map()).nodes).toBe(0)
  expect(buildIndex(batchOf('ba')).contextOf(request(0))).toEqual([...'ba'])
})

const contexts = fc.array(fc.constantFrom(...'abcdefghijkl'), { minLength: 1, maxLength: 6 }).map((b) => b.join(''))

test('every context is reordered to begin with what its ancestors hold, and loses and gains nothing', () => {
  fc.assert(
    fc.property(fc.array(contexts, { maxLength: 20 }), (all) => {
      const batch = batchOf(...all)
      const index = buildIndex(batch)
      expect(index.requests).toBe(batch.size)
      for (const [id, blocks] of batch) {
        expect(index.contextOf(id)!.toSorted()).toEqual(blocks.toSorted())
        for (let node = nodeAt(index, index.pathOf(id)!); node?.parent; node = node.parent) {
          expect(node.blocks.slice(0, node.parent.blocks.length)).toEqual(node.parent.blocks)
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('a virtual node holds what all contexts below it share, more than its parent, and has two children or more', () => {
  const leavesBelow = (node: ContextNode): ContextNode[] =>
    node.requests > 0 ? [node] : [...node.children.values()].flatMap(leavesBelow)
  const virtualBelow = (node: ContextNode): ContextNode[] =>
    node.requests > 0 ? [] : [node, ...[...node.children.values()].flatMap(virtualBelow)]
  fc.assert(
    fc.property(fc.array(contexts, { maxLength: 20 }), (all) => {
      for (const node of virtualBelow(buildIndex(batchOf(...all)).root)) {
        if (!node.parent) continue
        const [first, ...others] = leavesBelow(node).map(({ blocks }) => new Set(blocks))
        const shared = [...first!].filter((block) => others.every((blocks) => blocks.has(block)))
        expect(node.blocks.toSorted()).toEqual(shared.toSorted())
        expect(node.blocks.length).toBeGreaterThan(node.parent.blocks.length)
        expect(node.children.size).toBeGreaterThan(1)
      }
    }),
    { numRuns: 300 },
  )
})

test('what was built is forgotten request by request', () => {
  fc.assert(
    fc.property(fc.array(contexts, { maxLength: 15 }), (all) => {
      const batch = batchOf(...all)
      const index = buildIndex(batch)
      for (const id of batch.keys()) expect(index.remove(id)).toBe(true)
      expect([index.nodes, index.requests]).toEqual([0, 0])
    }),
  )
})
