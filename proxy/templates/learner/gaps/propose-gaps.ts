import { foldNumbers } from '../learnt-template.ts'
import { edgesOf, type StudiedText } from './find-edges.ts'

/** Edges that must have a text in common before it may be a separator. */
const fewestEdges = 4
const coverages = [1, 0.95, 0.85, 0.7, 0.5, 0.35]
const mostEdges = 200
const mostProposed = 12

/** Texts that stand at most of the edges, most promising first: what may separate documents. */
export function proposeGaps(studied: readonly StudiedText[]): string[] {
  const edges = studied.flatMap(edgesOf).slice(-mostEdges)
  if (edges.length < fewestEdges) return []
  const long = coverages.map((share) => longestCommon(edges, Math.max(fewestEdges, Math.ceil(share * edges.length))))
  const short = [1, 2, 3].flatMap((length) => commonOfLength(edges, length, Math.max(fewestEdges, 0.35 * edges.length)))
  // documents that all begin or end alike take that with them
  const shorter = long.flatMap((pattern) => [pattern.slice(1), pattern.slice(0, -1)])
  const candidates = new Set([...long, ...shorter, ...short].map(trimNumbers).filter(isMark))
  return [...candidates]
    .map((pattern) => ({ pattern, score: scoreOf(pattern, edges, studied) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || b.pattern.length - a.pattern.length)
    .slice(0, mostProposed)
    .map(({ pattern }) => pattern)
}

/** Letters, digits and spaces alone separate nothing, nor does half a character. */
export function isMark(pattern: string): boolean {
  return /[^\p{L}\p{N}\0 ]/u.test(pattern) && pattern.isWellFormed()
}

/** A number at the rim may be a part of a longer one, and belongs to a document or to nobody. */
function trimNumbers(pattern: string): string {
  return pattern.replace(/^\0+|\0+$/g, '')
}

/** Share of the edges that have it, times the share of its places that are edges. */
function scoreOf(pattern: string, edges: readonly string[], studied: readonly StudiedText[]): number {
  const having = edges.filter((edge) => edge.includes(pattern))
  const times = having.reduce((sum, edge) => sum + edge.split(pattern).length - 1, 0)
  if (having.length < fewestEdges || times >= 1.5 * having.length) return 0
  let atEdges = 0
  let elsewhere = 0
  for (const { text, pieces, kinds } of studied) {
    kinds.forEach((kind, i) => {
      if (kind === 'unknown') return
      const between = foldNumbers(text.slice(pieces[i]!.end, pieces[i + 1]!.start))
      if (!between.includes(pattern)) return
      if (kind === 'edge') atEdges++
      else elsewhere++
    })
  }
  return (having.length / edges.length) * (atEdges / Math.max(1, atEdges + elsewhere))
}

/** The longest text that is in `needed` of the samples or more: coverage falls with length, so that halving finds it. */
function longestCommon(samples: readonly string[], needed: number): string {
  let [low, high] = [1, samples.reduce((most, { length }) => Math.max(most, length), 0)]
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
  const counts = new Map<string, number>()
  for (const sample of samples) {
    const own = new Set<string>()
    for (let i = 0; i + length <= sample.length; i++) own.add(sample.slice(i, i + length))
    for (const part of own) counts.set(part, (counts.get(part) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count >= needed)
    .toSorted(([a, m], [b, n]) => n - m || (a < b ? 1 : -1))
    .slice(0, 12)
    .map(([part]) => part)
}
