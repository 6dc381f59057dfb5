import { comparePaths, groupByBranch, type SearchPath } from './search-path.ts'

/**
 * Orders requests by a depth-first walk of the index. What a subtree shares is then in use until its last request has
 * run, however small the cache. Larger groups (by the first element of the search path) run first, as in Algorithm 5.
 * Within a group, Algorithm 5 runs longer paths first and so jumps from branch to branch; this does not. Equal paths
 * keep their order. A request with an empty path shares nothing and is a group of its own. O(N log N).
 */
export function scheduleDepthFirst<T>(requests: readonly T[], pathOf: (request: T) => SearchPath): T[] {
  return groupByBranch(requests, pathOf)
    .map((group) => group.sort((a, b) => comparePaths(pathOf(a), pathOf(b))))
    .sort((a, b) => b.length - a.length)
    .flat()
}
