/** Where a request stands in the index: the slot at each level; the first may name the tree as well. */
export type SearchPath = readonly (string | number)[]

/** Groups requests by the first element of their search paths (Algorithm 5, phase 1); one without any is on its own. */
export function groupByBranch<T>(requests: readonly T[], pathOf: (request: T) => SearchPath): T[][] {
  const groups = new Map<unknown, T[]>()
  for (const request of requests) {
    const key = pathOf(request)[0] ?? request
    const group = groups.get(key)
    if (group) group.push(request)
    else groups.set(key, [request])
  }
  return [...groups.values()]
}

/** Order of a depth-first walk: slot by slot, a node before what is below it. For paths of one tree. */
export function comparePaths(a: SearchPath, b: SearchPath): number {
  for (let level = 0; level < a.length && level < b.length; level++) {
    const [x, y] = [a[level]!, b[level]!]
    if (x === y) continue
    return x < y ? -1 : 1
  }
  return a.length - b.length
}
