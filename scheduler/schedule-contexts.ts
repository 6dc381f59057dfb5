/**
 * Search-path grouping (ContextPilot, Algorithm 5): groups requests by the first element of their search path, runs
 * longer paths first within a group and larger groups first; equals stay in their order. A request with an empty path
 * shares nothing and is a group of its own. O(N log N).
 */
export function scheduleContexts<T>(requests: readonly T[], pathOf: (request: T) => readonly (string | number)[]): T[] {
  const groups = new Map<unknown, T[]>()
  for (const request of requests) {
    const key = pathOf(request)[0] ?? request
    const group = groups.get(key)
    if (group) group.push(request)
    else groups.set(key, [request])
  }
  return [...groups.values()]
    .map((group) => group.sort((a, b) => pathOf(b).length - pathOf(a).length))
    .sort((a, b) => b.length - a.length)
    .flat()
}
