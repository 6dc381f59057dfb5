import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alignContext } from './align-context.ts'
import type { Context, RequestId } from './context-block.ts'
import { ContextIndex } from './context-index.ts'
import { type ContextNode, searchPath } from './context-tree.ts'

const context = (...ids: (number | string)[]): Context => ids.map(String) as unknown as Context
const request = (id: number | string): RequestId => String(id) as RequestId

test('a search in an empty index ends at the root with nothing shared', () => {
  const index = new ContextIndex()
  const match = index.search(context(1, 2))
  expect(match.prefix).toEqual([])
  expect(match.node).toBe(index.root)
})

test('a leaf makes room for a virtual node with the intersection, in the order that was sent', () => {
  const index = new ContextIndex()
  index.insert(context(3, 1, 2), request('a'))
  index.insert(context(3, 2, 9), request('b'))
  expect(index.at([0])?.blocks).toEqual(['3', '2'])
  expect(index.at([0, 0])?.blocks).toEqual(['3', '1', '2'])
  expect(index.at([0, 1])?.blocks).toEqual(['3', '2', '9'])
})

test('an internal node that is wholly shared takes the context as a child', () => {
  const index = new ContextIndex()
  for (const [id, ids] of [
    ['a', [1, 2, 3]],
    ['b', [1, 2, 4]],
    ['c', [1, 2, 5]],
  ] as const)
    index.insert(context(...ids), request(id))
  expect(index.at([0])?.children.size).toBe(3)
  expect(index.pathOf(request('c'))).toEqual([0, 2])
})

test('a virtual node that is only partly shared is not a prefix to follow: it gets a parent with what is', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2, 3), request('a'))
  index.insert(context(1, 2, 4), request('b'))
  index.insert(context(1, 8, 9), request('c'))
  expect(index.at([0])?.blocks).toEqual(['1'])
  expect(index.pathOf(request('a'))).toEqual([0, 0, 0])
  expect(index.pathOf(request('c'))).toEqual([0, 1])
})

test('equal contexts share a leaf, which goes with the last of their requests', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2), request('a'))
  index.insert(context(1, 2), request('b'))
  expect(index.nodes).toBe(1)
  expect(index.at([0])?.frequency).toBe(2)
  index.remove(request('a'))
  expect(index.search(context(1)).prefix).toEqual(['1'])
  index.remove(request('b'))
  expect(index.search(context(1)).prefix).toEqual([])
})

test('a request that is cut keeps its first blocks and loses the others', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2, 3, 4), request('a'))
  index.truncate(request('a'), 2)
  expect(index.contextOf(request('a'))).toEqual(['1', '2'])
  expect(index.search(context(3, 4)).prefix).toEqual([])
  index.truncate(request('a'), 0)
  expect(index.requests).toBe(0)
  expect(index.nodes).toBe(0)
})

test('search paths stay true while other requests come and go', () => {
  const index = new ContextIndex()
  index.insert(context(1, 2), request('a'))
  index.insert(context(5, 6), request('b'))
  index.insert(context(7, 8), request('c'))
  index.remove(request('b'))
  expect(index.pathOf(request('c'))).toEqual([2])
  expect(index.at([2])?.blocks).toEqual(['7', '8'])
})

const contexts = fc
  .uniqueArray(fc.integer({ min: 0, max: 14 }), { minLength: 1, maxLength: 8 })
  .map((ids) => context(...ids))
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ act: fc.constant('send' as const), id: fc.nat(12), context: contexts }) },
    fc.record({ act: fc.constant('remove' as const), id: fc.nat(12) }),
    fc.record({ act: fc.constant('truncate' as const), id: fc.nat(12), length: fc.nat(8) }),
  ),
  { maxLength: 60 },
)
type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never

function apply(index: ContextIndex, held: Map<RequestId, Context>, step: Step): void {
  const id = request(step.id)
  if (step.act === 'send') {
    const match = index.search(step.context)
    const sent = alignContext(step.context, match.prefix).map((place) => step.context[place]!)
    index.insert(sent, id, match)
    held.set(id, sent)
  } else if (step.act === 'remove') {
    index.remove(id)
    held.delete(id)
  } else {
    index.truncate(id, step.length)
    const kept = held.get(id)?.slice(0, step.length)
    if (kept?.length) held.set(id, kept)
    else held.delete(id)
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
      for (const step of history) apply(index, held, step)
      expect(index.requests).toBe(held.size)
      for (const [id, blocks] of held) {
        expect(index.contextOf(id)).toEqual(blocks)
        expect(index.at(index.pathOf(id)!)?.blocks).toEqual(blocks)
      }
      const nodes = nodesBelow(index.root)
      expect(index.nodes).toBe(nodes.length)
      const sent = new Set([...held.values()].flat())
      for (const node of nodes) {
        // every node extends its parent, and a virtual one has at least two children
        expect(node.blocks).toEqual(expect.arrayContaining([...node.parent!.blocks]))
        if (node.requests === 0) expect(node.children.size).toBeGreaterThan(1)
        expect(index.at(searchPath(node))).toBe(node)
        for (const block of node.blocks) expect(sent).toContain(block)
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
        index.insert(sent, request(i))
      })
      const before = shapeOf(index.root)
      index.insert(extra, request('extra'))
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
      expect(searchPath(a.node)).toEqual(searchPath(b.node))
      expect(a.prefix).toEqual(b.prefix)
    }),
  )
})
