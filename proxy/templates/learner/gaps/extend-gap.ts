import { commonEnd, commonStart } from '../../common-edges.ts'
import { foldNumbers } from '../learnt-template.ts'
import type { JudgedGap } from './judge-gap.ts'

/** Different documents that have to begin, and to end, at edges before one can tell what is part of the separator. */
const fewestAlike = 12
const longestExtension = 120

/**
 * The pattern with what is behind it at all edges, with what is before it, or both: the longest first. Undefined if the
 * edges are too few to tell: a short pattern may stand in the next document.
 */
export function extendGap({ gap, lists, edges }: JudgedGap): string[] | undefined {
  const before = new Set<string>()
  const behind = new Set<string>()
  lists.forEach(({ text, gaps }, n) => {
    gaps.forEach(({ matchStart, matchEnd }, i) => {
      if (!edges[n]![i]) return
      before.add(text.slice(Math.max(gaps[i - 1]!.matchEnd, matchStart - longestExtension), matchStart))
      behind.add(text.slice(matchEnd, Math.min(gaps[i + 1]!.matchStart, matchEnd + longestExtension)))
    })
  })
  if (Math.min(before.size, behind.size) < fewestAlike) return undefined
  const [fronts, rears] = [[...before].map(foldNumbers), [...behind].map(foldNumbers)]
  // a number at the rim may be a part of a longer one
  const left = fronts[0]!.slice(fronts[0]!.length - commonEnd(fronts)).replace(/^\0+/, '')
  const right = rears[0]!.slice(0, commonStart(rears)).replace(/\0+$/, '')
  // documents of one source begin alike, and others will not: whole lines are safer
  const leftLines = left.slice(Math.max(0, left.indexOf('\n')))
  const rightLines = right.slice(0, right.lastIndexOf('\n') + 1)
  const longer = [left, leftLines, ''].flatMap((front) =>
    [right, rightLines, ''].map((rear) => front + gap.pattern + rear),
  )
  return [...new Set(longer)]
    .filter((pattern) => pattern !== gap.pattern && pattern.isWellFormed())
    .toSorted((a, b) => b.length - a.length)
}
