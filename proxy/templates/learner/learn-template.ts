import { checksOf } from './gaps/check-gap.ts'
import { extendGap } from './gaps/extend-gap.ts'
import { type StudiedText, studyTexts } from './gaps/find-edges.ts'
import { type JudgedGap, judgeGap } from './gaps/judge-gap.ts'
import { learnEnds } from './gaps/learn-ends.ts'
import { isMark, proposeGaps } from './gaps/propose-gaps.ts'
import { type LearntTemplate, number } from './learnt-template.ts'

/** Share of the separators of a list that a longer pattern may lose. */
const tolerated = 0.001

/** Share of the edges that a pattern with more of what is beside it has to find: those it does not find were none. */
const keptByExtension = 0.97

/** Share of the documents that have a character, for it to be an ordinary one. */
const ordinary = 0.5
const mostTrimmed = 4

/**
 * Learns what separates the documents of some texts of one application, from what came again beside something else.
 * Undefined if there is nothing, or not yet. The same texts give the same template.
 */
export function learnTemplate(key: string, texts: readonly string[]): LearntTemplate | undefined {
  const studied = studyTexts(texts)
  const judged = proposeGaps(studied)
    .map((pattern) => judgeGap(pattern, studied))
    .filter((judged) => judged !== undefined)
    .toSorted((a, b) => b.edgeCount - a.edgeCount)
  const [most] = judged
  if (most === undefined) return undefined
  // short ones stand in documents as well
  const longest = judged.filter((other) => other === most || isSafer(other, most)).toSorted(byLength)[0]!
  const extended = extend(longest, studied)
  if (extended === undefined) return undefined
  const best = trim(extended, studied)
  const gap = { ...best.gap, checks: checksOf(best) }
  return { key, gap, ...learnEnds(best.lists, best.seen) }
}

function byLength(a: JudgedGap, b: JudgedGap): number {
  return b.gap.pattern.length - a.gap.pattern.length
}

/** Whether a longer pattern, between its first and last place in each list, misses no border that a shorter one finds. */
function isSafer(long: JudgedGap, short: JudgedGap): boolean {
  if (!long.gap.pattern.includes(short.gap.pattern)) return false
  const byText = new Map(long.lists.map(({ text, gaps }) => [text, gaps]))
  let missed = 0
  let all = 0
  short.lists.forEach(({ text, gaps }, n) => {
    const longer = byText.get(text)
    if (longer === undefined) return
    const isCovered = (start: number): boolean => longer.some((gap) => gap.matchStart <= start && start < gap.matchEnd)
    all += longer.length
    gaps.forEach(({ matchStart }, i) => {
      const isWithin = matchStart > longer[0]!.matchStart && matchStart < longer.at(-1)!.matchStart
      if (isWithin && short.edges[n]![i] && !isCovered(matchStart)) missed++
    })
  })
  return missed <= tolerated * all && long.lists.length >= 0.9 * short.lists.length
}

function extend(judged: JudgedGap, studied: readonly StudiedText[]): JudgedGap | undefined {
  const longer = extendGap(judged)?.map((pattern) => judgeGap(pattern, studied))
  const isAsGood = (other: JudgedGap | undefined): boolean =>
    other !== undefined && (other.edgeCount >= keptByExtension * judged.edgeCount || isSafer(other, judged))
  return longer && (longer.find(isAsGood) ?? judged)
}

/** Removes characters at its ends that documents are full of, such as a full stop: other documents end without one. */
function trim(judged: JudgedGap, studied: readonly StudiedText[]): JudgedGap {
  const contents = judged.lists.flatMap(({ contents }) => contents)
  const isOrdinary = (character: string): boolean =>
    contents.filter((content) => content.includes(character)).length >= ordinary * contents.length
  let best = judged
  for (const side of ['left', 'right'] as const)
    for (let i = 0; i < mostTrimmed; i++) {
      const { pattern } = best.gap
      const [character, rest] =
        side === 'left' ? [pattern[0]!, pattern.slice(1)] : [pattern.at(-1)!, pattern.slice(0, -1)]
      if (
        rest.length < 2 ||
        rest.startsWith(number) ||
        rest.endsWith(number) ||
        /\s/.test(character) ||
        !isOrdinary(character) ||
        !isMark(rest)
      )
        break
      const shorter = judgeGap(rest, studied)
      if (shorter === undefined || shorter.edgeCount < best.edgeCount || shorter.gap.kept !== best.gap.kept) break
      best = shorter
    }
  return best
}
