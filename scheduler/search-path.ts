import { groupBy } from '#index/group-by.ts'

/** The position of a request in the index: the slot at each level. The first element may also name the tree. */
export type SearchPath = readonly (string | number)[]

/**
 * Groups requests by the first element of their search paths (Algorithm 5, phase 1). An empty path is its own group.
 */
export function groupByBranch<T>(requests: readonly T[], pathOf: (request: T) => SearchPath): T[][] {
  return [...groupBy<unknown, T>(requests, (request) => pathOf(request)[0] ?? request).values()]
}

/** Compares paths of one tree in depth-first order: slot by slot, a node before its descendants. */
export function comparePaths(a: SearchPath, b: SearchPath): number {
  for (let level = 0; level < a.length && level < b.length; level++) {
    const [x, y] = [a[level]!, b[level]!]
    if (x === y) continue
    return x < y ? -1 : 1
  }
  return a.length - b.length
}
