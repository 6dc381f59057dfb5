import fc from 'fast-check'
import { expect, test } from 'vitest'
import { averageLinkage, type Merge, pairIndex } from './average-linkage.ts'

interface Clusters {
  readonly items: readonly number[]
  readonly distance: number
}

const byDistance = (a: { distance: number }, b: { distance: number }): number => a.distance - b.distance

/** Returns the items below every merge. */
function clustersOf(merges: readonly Merge[], n: number): Clusters[] {
  const items: number[][] = Array.from({ length: n }, (_, i) => [i])
  return merges.map(({ a, b, distance }) => {
    const all = [...items[a]!, ...items[b]!].sort((x, y) => x - y)
    items.push(all)
    return { items: all, distance }
  })
}

/** Average linkage by definition: merges the two clusters with the lowest mean distance until only one is left. */
function naive(n: number, distances: Float64Array): Clusters[] {
  let clusters = Array.from({ length: n }, (_, i) => [i])
  const found: Clusters[] = []
  const mean = (a: number[], b: number[]): number =>
    a.flatMap((x) => b.map((y) => distances[pairIndex(x, y)]!)).reduce((sum, d) => sum + d, 0) / (a.length * b.length)
  while (clusters.length > 1) {
    const pairs = clusters.flatMap((a, i) => clusters.slice(i + 1).map((b) => ({ a, b, distance: mean(a, b) })))
    const { a, b, distance } = pairs.reduce((least, pair) => (pair.distance < least.distance ? pair : least))
    const items = [...a, ...b].sort((x, y) => x - y)
    clusters = [...clusters.filter((cluster) => cluster !== a && cluster !== b), items]
    found.push({ items, distance })
  }
  return found
}

// without ties, even between means, because with ties other dendrograms are equally right
const matrices = fc.record({ n: fc.integer({ min: 1, max: 10 }), seed: fc.integer() }).map(({ n, seed }) => {
  let state = seed
  const distances = new Float64Array((n * (n - 1)) / 2).map(() => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  })
  return { n, distances }
})

test('merges what average linkage merges by its definition, at the same distances', () => {
  fc.assert(
    fc.property(matrices, ({ n, distances }) => {
      const expected = naive(n, distances)
      const found = clustersOf(averageLinkage(new Array(n).fill(1), distances.slice()), n).sort(byDistance)
      expect(found.map(({ items }) => items)).toEqual(expected.map(({ items }) => items))
      found.forEach(({ distance }, k) => {
        expect(distance).toBeCloseTo(expected[k]!.distance, 9)
      })
    }),
    { numRuns: 300 },
  )
})

test('an item of weight 2 counts as two that are equal', () => {
  fc.assert(
    fc.property(matrices, ({ n, distances }) => {
      const weighted = averageLinkage([2, ...new Array(n - 1).fill(1)], distances.slice()).sort(byDistance)
      const twice = new Float64Array(((n + 1) * n) / 2)
      for (let i = 1; i <= n; i++) {
        for (let j = 0; j < i; j++) {
          // item n is a copy of item 0
          const other = i === n ? 0 : i
          twice[pairIndex(i, j)] = other === j ? 0 : distances[pairIndex(other, j)]!
        }
      }
      const merges = averageLinkage(new Array(n + 1).fill(1), twice).sort(byDistance)
      expect(merges[0]).toMatchObject({ a: 0, b: n, distance: 0 })
      merges.slice(1).forEach(({ distance }, k) => {
        expect(distance).toBeCloseTo(weighted[k]!.distance, 9)
      })
    }),
  )
})

test('with any number of equal distances every item is in the last cluster once, and no merge precedes its parts', () => {
  const tied = fc
    .integer({ min: 1, max: 12 })
    .chain((n) =>
      fc
        .array(fc.constantFrom(0, 0.5, 1), { minLength: (n * (n - 1)) / 2, maxLength: (n * (n - 1)) / 2 })
        .map((numbers) => ({ n, distances: Float64Array.from(numbers) })),
    )
  fc.assert(
    fc.property(tied, ({ n, distances }) => {
      const merges = averageLinkage(new Array(n).fill(1), distances)
      expect(merges.length).toBe(n - 1)
      for (const [k, { a, b }] of merges.entries()) expect(Math.max(a, b)).toBeLessThan(n + k)
      const clusters = clustersOf(merges, n)
      if (n > 1) expect(clusters.at(-1)!.items).toEqual(Array.from({ length: n }, (_, i) => i))
    }),
  )
})

test('nothing to merge', () => {
  expect(averageLinkage([], new Float64Array(0))).toEqual([])
  expect(averageLinkage([1], new Float64Array(0))).toEqual([])
})
