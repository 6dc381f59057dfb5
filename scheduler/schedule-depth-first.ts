import { comparePaths, groupByBranch, type SearchPath } from './search-path.ts'

/**
 * The requests in the order of a depth-first walk of the index: what a subtree shares is in use until its last request
 * has run, however small the cache. Larger groups (by the first element of the search path) run first, as in Algorithm
 * 5; within a group it differs from that (longer paths first), which goes from branch to branch. Equals stay in their
 * order; a request with an empty path shares nothing and is a group of its own. O(N log N).
 */
export function scheduleDepthFirst<T>(requests: readonly T[], pathOf: (request: T) => SearchPath): T[] {
  return groupByBranch(requests, pathOf)
    .map((group) => group.sort((a, b) => comparePaths(pathOf(a), pathOf(b))))
    .sort((a, b) => b.length - a.length)
    .flat()
}
