import { expect, test } from 'vitest'
import { requestsOf, type Sized } from '#tools/replay/requests.fixture.ts'
import { planByGreedy } from './plan-by-greedy.ts'

const sizes: Readonly<Record<string, number>> = { a: 10, b: 4, c: 3, d: 2 }

function plan(...contexts: string[]): [order: string, group: number, searchPath: readonly number[]][] {
  const requests = requestsOf(contexts.map((blocks) => [...blocks].map((id): Sized => [id, sizes[id] ?? 1])))
  return planByGreedy(requests).map(({ request, order, group, searchPath }) => [
    order.map((place) => request.trace.blocks[place]!.id).join(''),
    group,
    searchPath,
  ])
}

test('the block that saves most stands in front of all that hold it, and they run one after the other', () => {
  // b saves 2 × 4 and a saves 10; among those with a, c saves 3; among the others, b saves 4
  expect(plan('zbx', 'bca', 'yb', 'cda', '')).toEqual([
    ['acb', 0, [0, 0]],
    ['acd', 0, [0, 0]],
    ['bzx', 1, [1]],
    ['by', 1, [1]],
    ['', 2, []],
  ])
})

test('of blocks that save as much, the first goes first; what nobody shares stays as it is', () => {
  expect(plan('xyz', 'yx', 'pq')).toEqual([
    ['xyz', 0, [0, 0]],
    ['xy', 0, [0, 0]],
    ['pq', 1, []],
  ])
})
