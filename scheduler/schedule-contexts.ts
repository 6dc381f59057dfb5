import { comparePaths, groupByBranch, type SearchPath } from './search-path.ts'

/**
 * Search-path grouping (ContextPilot, Algorithm 5): groups requests by the first element of their search path. Larger
 * groups run first, and longer paths run first within a group. Paths of equal length run in tree order, as in the
 * authors' code (Algorithm 5 does not specify it). Equal paths keep their order. A request with an empty path shares
 * nothing and is a group of its own. O(N log N).
 */
export function scheduleContexts<T>(requests: readonly T[], pathOf: (request: T) => SearchPath): T[] {
  return groupByBranch(requests, pathOf)
    .map((group) => group.sort((a, b) => pathOf(b).length - pathOf(a).length || comparePaths(pathOf(a), pathOf(b))))
    .sort((a, b) => b.length - a.length)
    .flat()
}
