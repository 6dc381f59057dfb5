import { countTexts, type Neighbours, readNeighbours } from './read-neighbours.ts'

/** Edges that must have a text in common before it may be a separator. */
const fewestEdges = 4
const coverages = [1, 0.95, 0.85, 0.7, 0.5, 0.35]
const longestEdge = 240
const mostEdges = 200
const mostProposed = 12

/** Texts that stand at most of the edges of documents, most promising first: what may separate them. */
export function proposeGaps(texts: readonly string[]): string[] {
  const neighbours = readNeighbours(texts)
  const edges = neighbours.apart.filter((edge) => edge !== '' && edge.length <= longestEdge).slice(-mostEdges)
  if (edges.length < fewestEdges) return []
  const long = coverages.map((share) => longestCommon(edges, Math.max(fewestEdges, Math.ceil(share * edges.length))))
  const short = [1, 2, 3].flatMap((length) => commonOfLength(edges, length, Math.max(fewestEdges, 0.35 * edges.length)))
  // documents that all begin or end alike take that with them
  const shorter = long.flatMap((pattern) => [pattern.slice(1), pattern.slice(0, -1)])
  // a number at the rim may be a part of a longer one, and belongs to a document or to nobody
  const trimmed = [...long, ...shorter, ...short].map((pattern) => pattern.replace(/^\0+|\0+$/g, ''))
  return [...new Set(trimmed.filter(isMark))]
    .map((pattern) => ({ pattern, score: scoreOf(pattern, edges, neighbours) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.pattern.length - a.pattern.length)
    .slice(0, mostProposed)
    .map(({ pattern }) => pattern)
}

/** Letters, digits and spaces alone separate nothing, nor does half a character. */
export function isMark(pattern: string): boolean {
  return /[^\p{L}\p{N}\0 ]/u.test(pattern) && pattern.isWellFormed()
}

/** Share of the edges that have it, times the share of its places that are edges. */
function scoreOf(pattern: string, edges: readonly string[], { apart, together }: Neighbours): number {
  const having = edges.filter((edge) => edge.includes(pattern))
  const times = having.reduce((sum, edge) => sum + edge.split(pattern).length - 1, 0)
  if (having.length < fewestEdges || times >= 1.5 * having.length) return 0
  const [atEdges, elsewhere] = [apart, together].map((own) => own.filter((text) => text.includes(pattern)).length)
  return (having.length / edges.length) * (atEdges! / Math.max(1, atEdges! + elsewhere!))
}

/** The longest text that is in `needed` of the samples or more: coverage falls with length, so that halving finds it. */
function longestCommon(samples: readonly string[], needed: number): string {
  let [low, high] = [1, Math.max(...samples.map(({ length }) => length))]
  let best = ''
  while (low <= high) {
    const length = (low + high) >> 1
    const [found] = commonOfLength(samples, length, needed)
    if (found === undefined) high = length - 1
    else {
      best = found
      low = length + 1
    }
  }
  return best
}

/** Texts of a length that are in `needed` of the samples or more, the most common first, a dozen at most. */
function commonOfLength(samples: readonly string[], length: number, needed: number): string[] {
  const partsOf = (sample: string): string[] =>
    Array.from({ length: Math.max(0, sample.length - length + 1) }, (_, i) => sample.slice(i, i + length))
  return [...countTexts(samples.map(partsOf))]
    .filter(([, count]) => count >= needed)
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? 1 : -1))
    .slice(0, 12)
    .map(([part]) => part)
}
