import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Context, RequestId } from '#index/context-block.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { ContextIndex, type ContextNode } from './context-index.ts'
import { nodeAt } from './node-at.fixture.ts'

const context = (...ids: (number | string)[]): Context => ids.map(String) as unknown as Context
const request = (id: number | string): RequestId => String(id) as RequestId

test('a search in an empty index ends at the root with nothing shared', () => {
  const index = new ContextIndex()
  const match = index.search(context(1, 2))
  expect(match.prefix).toEqual([])
  expect(match.node).toBe(index.root)
})

test('a leaf makes room for a virtual node with what stands first in both, as sent', () => {
  const index = new ContextIndex()
  index.insert(context(3, 1, 2), [], request('a'))
  index.insert(context(3, 1, 9, 2), [], request('b'))
  // 2 is shared too, but comes after a 9, so the engine cannot reuse it
  expect(nodeAt(index, [0])?.blocks).toEqual(['3', '1'])
  expect(nodeAt(index, [0, 0])?.blocks).toEqual(['3', '1', '2'])
  expect(nodeAt(index, [0, 1])?.blocks).toEqual(['3', '1', '9', '2'])
})

test('a leaf that shares blocks but no prefix gets the context beside it', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2, 3), [], request('a'))
  expect(index.search(context(9, 3, 2)).prefix).toEqual(['2', '3'])
  index.insert(context(2, 3, 9), [], request('b'))
  expect(nodeAt(index, [0])?.blocks).toEqual(['1', '2', '3'])
  expect(nodeAt(index, [1])?.blocks).toEqual(['2', '3', '9'])
})

test('no virtual node repeats its parent: it could not be found', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2, 3), [], request('a'))
  index.insert(context(1, 4, 5), [], request('b'))
  index.insert(context(1, 6, 3), [], request('c'))
  expect(nodeAt(index, [0])?.blocks).toEqual(['1'])
  expect(nodeAt(index, [0])?.children.size).toBe(3)
  expect(index.search(context(3, 7, 1)).node).toBe(nodeAt(index, [0, 0]))
})

test('an internal node that is wholly shared takes the context as a child', () => {
  const index = new ContextIndex()
  for (const [id, ids] of [
    ['a', [1, 2, 3]],
    ['b', [1, 2, 4]],
    ['c', [1, 2, 5]],
  ] as const)
    index.insert(context(...ids), [], request(id))
  expect(nodeAt(index, [0])?.children.size).toBe(3)
  expect(index.pathOf(request('c'))).toEqual([0, 2])
})

test('the search goes through a virtual node that is only partly shared, which takes the context as a child', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2, 3), [], request('a'))
  index.insert(context(1, 2, 4), [], request('b'))
  expect(index.search(context(4, 1, 8))).toEqual({ node: nodeAt(index, [0, 1]), prefix: ['1', '4'] })
  index.insert(context(1, 8, 9), [], request('c'))
  expect(nodeAt(index, [0])?.blocks).toEqual(['1', '2'])
  expect(index.pathOf(request('c'))).toEqual([0, 2])
})

test('equal contexts share a leaf, which goes with the last of their requests', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2), [], request('a'))
  index.insert(context(1, 2), [], request('b'))
  expect(index.nodes).toBe(1)
  expect(nodeAt(index, [0])?.requests).toBe(2)
  index.remove(request('a'))
  expect(index.search(context(1)).prefix).toEqual(['1'])
  index.remove(request('b'))
  expect(index.search(context(1)).prefix).toEqual([])
})

test('search paths stay true while other requests come and go', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2), [], request('a'))
  index.insert(context(5, 6), [], request('b'))
  index.insert(context(7, 8), [], request('c'))
  index.remove(request('b'))
  expect(index.pathOf(request('c'))).toEqual([2])
  expect(nodeAt(index, [2])?.blocks).toEqual(['7', '8'])
})

const contexts = fc
  .uniqueArray(fc.integer({ min: 0, max: 14 }), { minLength: 1, maxLength: 8 })
  .map((ids) => context(...ids))
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ act: fc.constant('send' as const), id: fc.nat(12), context: contexts }) },
    fc.record({ act: fc.constant('remove' as const), id: fc.nat(12) }),
  ),
  { maxLength: 60 },
)
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never

function apply(index: ContextIndex, held: Map<RequestId, Context>, step: Step): void {
  const id = request(step.id)
  if (step.act === 'send') {
    const match = index.search(step.context)
    const sent = alignContext(step.context, match.prefix).map((place) => step.context[place]!)
    index.insert(sent, [], id)
    held.set(id, sent)
  } else {
    index.remove(id)
    held.delete(id)
  }
}

function nodesBelow(node: ContextNode): ContextNode[] {
  return [...node.children.values()].flatMap((child) => [child, ...nodesBelow(child)])
}

test('through any history the tree holds what was sent and nothing else', () => {
  fc.assert(
    fc.property(steps, contexts, (history, probe) => {
      const index = new ContextIndex()
      const held = new Map<RequestId, Context>()
      const everSent = new Set<Context>()
      for (const step of history) {
        apply(index, held, step)
        for (const blocks of held.values()) everSent.add(blocks)
      }
      expect(index.requests).toBe(held.size)
      for (const [id, blocks] of held) {
        expect(index.contextOf(id)).toEqual(blocks)
        expect(nodeAt(index, index.pathOf(id)!)?.blocks).toEqual(blocks)
      }
      const nodes = nodesBelow(index.root)
      expect(index.nodes).toBe(nodes.length)
      for (const node of nodes) {
        expect(nodeAt(index, node.path)).toBe(node)
        if (node.requests > 0) expect([...held.values()]).toContainEqual(node.blocks)
        else {
          expect(node.children.size).toBeGreaterThan(1)
          // every node is a prefix of something that was sent
          expect([...everSent].map((blocks) => blocks.slice(0, node.blocks.length))).toContainEqual(node.blocks)
        }
      }
      const match = index.search(probe)
      for (const block of match.prefix) expect(probe).toContain(block)
      expect(match.node.blocks.filter((block) => probe.includes(block))).toEqual(match.prefix)
    }),
    { numRuns: 300 },
  )
})

test('a context that is inserted and removed again leaves the tree as it was', () => {
  const shapeOf = (node: ContextNode): unknown => [
    node.blocks,
    node.requests,
    [...node.children].sort(([a], [b]) => a - b).map(([slot, child]) => [slot, shapeOf(child)]),
  ]
  fc.assert(
    fc.property(fc.array(contexts, { maxLength: 20 }), contexts, (history, extra) => {
      const index = new ContextIndex()
      history.forEach((sent, i) => {
        index.insert(sent, [], request(i))
      })
      const before = shapeOf(index.root)
      index.insert(extra, [], request('extra'))
      index.remove(request('extra'))
      expect(shapeOf(index.root)).toEqual(before)
    }),
  )
})

test('equal histories give equal trees', () => {
  fc.assert(
    fc.property(steps, contexts, (history, probe) => {
      const [one, other] = [new ContextIndex(), new ContextIndex()]
      for (const index of [one, other]) {
        const held = new Map<RequestId, Context>()
        for (const step of history) apply(index, held, step)
      }
      const [a, b] = [one.search(probe), other.search(probe)]
      expect(a.node.path).toEqual(b.node.path)
      expect(a.prefix).toEqual(b.prefix)
    }),
  )
})
