import { groupBy } from '#index/group-by.ts'

/** The position of a request in the index: the slot at each level. The first element may also name the tree. */
export type SearchPath = readonly (string | number)[]

type PathOf<T> = (request: T) => SearchPath

/**
 * Search-path grouping (ContextPilot, Algorithm 5): groups requests by the first element of their search path. Larger
 * groups run first, and longer paths run first within a group. Paths of equal length run in tree order, as in the
 * authors' code (Algorithm 5 does not specify it). Equal paths keep their order. A request with an empty path shares
 * nothing and is a group of its own. O(N log N).
 */
export function scheduleContexts<T>(requests: readonly T[], pathOf: PathOf<T>): T[] {
  return schedule(requests, pathOf, (a, b) => b.length - a.length || comparePaths(a, b))
}

/**
 * Orders requests by a depth-first walk of the index. What a subtree shares is then in use until its last request has
 * run, however small the cache. Larger groups (by the first element of the search path) run first, as in Algorithm 5.
 * Within a group, Algorithm 5 runs longer paths first and so jumps from branch to branch; this does not. Equal paths
 * keep their order. A request with an empty path shares nothing and is a group of its own. O(N log N).
 */
export function scheduleDepthFirst<T>(requests: readonly T[], pathOf: PathOf<T>): T[] {
  return schedule(requests, pathOf, comparePaths)
}

function schedule<T>(requests: readonly T[], pathOf: PathOf<T>, compare: typeof comparePaths): T[] {
  const groups = groupBy<unknown, T>(requests, (request) => pathOf(request)[0] ?? request)
  return [...groups.values()]
    .map((group) => group.sort((a, b) => compare(pathOf(a), pathOf(b))))
    .sort((a, b) => b.length - a.length)
    .flat()
}

/** Compares paths of one tree in depth-first order: slot by slot, a node before its descendants. */
function comparePaths(a: SearchPath, b: SearchPath): number {
  for (let level = 0; level < a.length && level < b.length; level++) {
    const [x, y] = [a[level]!, b[level]!]
    if (x === y) continue
    return x < y ? -1 : 1
  }
  return a.length - b.length
}
