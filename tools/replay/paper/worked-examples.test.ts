import { expect, test } from 'vitest'
import type { Context, RequestId } from '#index/context-block.ts'
import { annotateOrder } from '#index/dedup/annotate-context.ts'
import { alignContext } from '#index/plan/align-context.ts'
import { buildIndex } from './build-index.ts'
import type { ContextIndex } from './context-index.ts'
import { nodeAt } from './node-at.fixture.ts'

// ContextPilot, Figures 5 and 6, with the paper's contexts and numbers
const context = (...ids: number[]): Context => ids.map(String) as unknown as Context
const request = (name: string): RequestId => name as RequestId
const initial = new Map([
  [request('C1'), context(2, 1, 3)],
  [request('C2'), context(2, 6, 1)],
  [request('C3'), context(4, 1, 0)],
])

/** The paper's blocks are numbered, and intersections sorted by number. */
function buildPaperIndex(): ContextIndex {
  return buildIndex(initial, (a, b) => Number(a) - Number(b))
}

/** Runs Algorithm 2 for a new context: search, order, insert. Returns the ordered context. */
function send(index: ContextIndex, name: string, ...ids: number[]): string[] {
  const received = context(...ids)
  const match = index.search(received)
  const ordered = alignContext(received, match.prefix).map((place) => received[place]!)
  index.insert(ordered, [], request(name))
  return ordered
}

test('Figure 5: C1 and C2 merge into C4 {1, 2}, which merges with C3 into C5 {1}', () => {
  const index = buildPaperIndex()
  expect(nodeAt(index, [0])?.blocks).toEqual(['1'])
  expect(nodeAt(index, [0, 0])?.blocks).toEqual(['1', '2'])
  expect(index.pathOf(request('C1'))).toEqual([0, 0, 0])
  expect(index.pathOf(request('C2'))).toEqual([0, 0, 1])
  expect(index.pathOf(request('C3'))).toEqual([0, 1])
  expect(index.nodes).toBe(5)
})

test('Figure 6: initial contexts inherit the prefix of their parent', () => {
  const index = buildPaperIndex()
  expect(index.contextOf(request('C1'))).toEqual(['1', '2', '3'])
  expect(index.contextOf(request('C2'))).toEqual(['1', '2', '6'])
  expect(index.contextOf(request('C3'))).toEqual(['1', '4', '0'])
})

test('§4.2: C6 {2, 1, 4} is found at C4 by the path [0, 0] and inserted at [0, 0, 2]', () => {
  const index = buildPaperIndex()
  const match = index.search(context(2, 1, 4))
  expect(match.node.path).toEqual([0, 0])
  expect(send(index, 'C6', 2, 1, 4)).toEqual(['1', '2', '4'])
  expect(index.pathOf(request('C6'))).toEqual([0, 0, 2])
})

test('Figure 6: C8 {1, 2, 9} shares {1, 2}; C7 {5, 7, 8} shares nothing and stands alone', () => {
  const index = buildPaperIndex()
  expect(send(index, 'C6', 2, 1, 4)).toEqual(['1', '2', '4'])
  expect(send(index, 'C7', 5, 7, 8)).toEqual(['5', '7', '8'])
  expect(send(index, 'C8', 1, 2, 9)).toEqual(['1', '2', '9'])
  expect(index.pathOf(request('C7'))).toEqual([1])
  expect(index.pathOf(request('C8'))).toEqual([0, 0, 3])
})

test('§5.3: C6 as sent is annotated with the ranking 2 > 1 > 4', () => {
  // sent as {1, 2, 4}: the block that ranked second comes first
  const annotation = annotateOrder([1, 0, 2], ['[Doc_1]', '[Doc_2]', '[Doc_4]'])
  expect(annotation).toBe(
    'Please read the context in the following priority order: [Doc_2] > [Doc_1] > [Doc_4] and answer the question.',
  )
})
