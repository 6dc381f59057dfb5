import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NearestCluster } from './nearest-cluster.ts'

const weights = Array.from({ length: 40 }, (_, block) => 1 + ((block * 7) % 13))
const sets = fc.array(fc.uniqueArray(fc.nat(39), { maxLength: 8 }), { minLength: 2, maxLength: 40 })

function sharedWeight(a: readonly number[], b: readonly number[]): number {
  return a.filter((block) => b.includes(block)).reduce((sum, block) => sum + weights[block]!, 0)
}

function nearestOf(
  cluster: number,
  others: readonly number[],
  contents: readonly (readonly number[])[],
): { cluster: number; weight: number } | undefined {
  return others
    .filter((other) => other !== cluster)
    .map((other) => ({ cluster: other, weight: sharedWeight(contents[cluster]!, contents[other]!) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || a.cluster - b.cluster)[0]
}

test('finds the cluster that shares most of those that are left, the oldest of equals', () => {
  fc.assert(
    fc.property(sets, fc.infiniteStream(fc.boolean()), (contents, stays) => {
      const clusters = new NearestCluster(weights)
      for (const content of contents) clusters.add(content)
      const left = contents.map((_, cluster) => cluster).filter((cluster) => cluster === 0 || stays.next().value)
      for (const cluster of contents.keys()) if (!left.includes(cluster)) clusters.remove(cluster)
      for (const cluster of left) expect(clusters.find(cluster)).toEqual(nearestOf(cluster, left, contents))
    }),
    { numRuns: 300 },
  )
})

test('among many holders of a hot block it still finds the one that shares more', () => {
  const clusters = new NearestCluster(weights)
  const asked = clusters.add([0, 1, 2])
  const alike = clusters.add([0, 2, 30])
  for (let i = 0; i < 5_000; i++) clusters.add([0, 3 + (i % 20)])
  expect(clusters.find(asked)).toEqual({ cluster: alike, weight: weights[0]! + weights[2]! })
})
