import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WholeColumn } from './number-column.ts'
import { SequenceTree } from './sequence-tree.ts'

const sequence = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 })
const steps = fc.array(fc.oneof(sequence, fc.nat(), fc.record({ cut: fc.nat(), to: fc.integer({ min: 1, max: 5 }) })), {
  maxLength: 60,
})

interface Held {
  readonly symbols: readonly number[]
  readonly end: number
}

/** Checks that each node on a path is found as a child of its parent, and that the data of each place is intact. */
function expectWhole(tree: SequenceTree, end: number, tags: WholeColumn): void {
  for (const node of tree.pathTo(end)) {
    const start = tree.starts.at(node)
    expect(tree.child(tree.parents.at(node), tree.symbolAt(start))).toBe(node)
    for (let i = 0; i < tree.lengths.at(node); i++) expect(tags.at(start + i)).toBe(tree.symbolAt(start + i) + 10)
  }
}

/** Adds a sequence and tags each of its places. */
function insert(tree: SequenceTree, symbols: readonly number[], tags: WholeColumn): Held {
  const { end, known } = tree.insert(symbols)
  const last = tree.starts.at(end) + tree.lengths.at(end)
  symbols.slice(known).forEach((symbol, i) => {
    tags.set(last - symbols.length + known + i, symbol + 10)
  })
  return { symbols, end }
}

/** Removes one of the sequences. */
function remove(tree: SequenceTree, held: Held[], step: number): void {
  for (const { end } of held.splice(step % Math.max(1, held.length), 1)) tree.remove(end)
}

/** Cuts one of the sequences, if it is longer than the cut. */
function cut(tree: SequenceTree, held: Held[], step: { readonly cut: number; readonly to: number }): void {
  const at = step.cut % Math.max(1, held.length)
  const { symbols, end } = held[at] ?? { symbols: [], end: tree.root }
  if (step.to < symbols.length) held[at] = { symbols: symbols.slice(0, step.to), end: tree.cut(end, step.to) }
}

/** Counts the positions where sequences branch or end: the number of nodes in a newly built tree. */
function countBranches(sequences: readonly (readonly number[])[]): number {
  const ends = new Set(sequences.map(String))
  const next = new Map<string, Set<number>>()
  for (const symbols of sequences) {
    symbols.forEach((symbol, i) => {
      const front = String(symbols.slice(0, i))
      next.set(front, (next.get(front) ?? new Set()).add(symbol))
    })
  }
  const parts = [...next].filter(([front, symbols]) => front !== '' && symbols.size > 1).map(([front]) => front)
  return new Set([...ends, ...parts]).size
}

test('sequences come, are cut and go: each is found where it ends, and nothing is left of those that are gone', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const tags = new WholeColumn()
      const tree = new SequenceTree({ placeColumns: [tags] })
      const held: Held[] = []
      for (const step of all) {
        if (typeof step === 'number') remove(tree, held, step)
        else if ('cut' in step) cut(tree, held, step)
        else held.push(insert(tree, step, tags))
        expect(tree.nodes).toBe(countBranches(held.map(({ symbols }) => symbols)))
        expect(held.map(({ end }) => tree.sequenceTo(end))).toEqual(held.map(({ symbols }) => symbols))
        for (const { end } of held) expectWhole(tree, end, tags)
      }
      for (const { end } of held) tree.remove(end)
      expect([tree.nodes, tree.places]).toEqual([0, 0])
    }),
    { numRuns: 300 },
  )
})

test('a node of a hundred thousand children finds each of them', () => {
  const tree = new SequenceTree()
  const count = 100_000
  const ends = Array.from({ length: count }, (_, i) => tree.insert([i, 1]).end)
  for (let i = 0; i < count; i += 2) tree.remove(ends[i]!)
  const found = Array.from({ length: count }, (_, i) => tree.child(tree.root, i))
  expect(found).toEqual(ends.map((end, i) => (i % 2 === 0 ? -1 : end)))
  for (let i = 0; i < count; i += 2) ends[i] = tree.insert([i, 2]).end
  expect(ends.every((end, i) => tree.child(tree.root, i) === end)).toBe(true)
})

test('room that was freed is used again', () => {
  const tree = new SequenceTree()
  const add = (round: number): number[] =>
    Array.from({ length: 500 }, (_, i) => tree.insert([i, round, 1 + (i % 9), 2, i % 7].slice(0, 2 + (i % 4))).end)
  let ends = add(0)
  for (let round = 1; round < 50; round++) {
    for (const end of ends) tree.remove(end)
    ends = add(round)
  }
  expect(tree.bytes).toBeLessThan(200_000)
  tree.clear()
  expect([tree.nodes, tree.places, tree.child(0, 1)]).toEqual([0, 0, -1])
  expect(tree.insert([1, 2]).known).toBe(0)
})
