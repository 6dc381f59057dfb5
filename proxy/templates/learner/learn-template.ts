import { commonEnd, commonStart } from '#index/common-edges.ts'
import { groupBy } from '#index/group-by.ts'
import { countGaps } from './gaps/find-gaps.ts'
import { byEdges, type JudgedGap, judgeGap } from './gaps/judge-gap.ts'
import { isMark, proposeGaps } from './gaps/propose-gaps.ts'
import { foldNumbers, type GapCheck, type LearntTemplate, number, type TemplateEnd } from './learnt-template.ts'

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
  const judged = proposeGaps(texts)
    .map((pattern) => judgeGap(pattern, texts))
    .filter((judged) => judged !== undefined)
    .toSorted(byEdges)
  const [most] = judged
  if (most === undefined) return undefined
  // short ones stand in documents as well
  const [longest] = judged
    .filter((other) => other === most || isSafer(other, most))
    .toSorted((a, b) => b.gap.pattern.length - a.gap.pattern.length)
  const extended = extend(longest!, texts)
  if (extended === undefined) return undefined
  const best = trim(extended, texts)
  const [open, end] = (['open', 'end'] as const).map((side) => learnEnd(best, side))
  return { key, gap: { ...best.gap, checks: checksOf(best) }, open, end }
}

/** Whether a longer pattern, between its first and last place in each list, misses no border that a shorter one finds. */
function isSafer(long: JudgedGap, short: JudgedGap): boolean {
  if (!long.gap.pattern.includes(short.gap.pattern)) return false
  const byText = new Map(long.lists.map(({ text, gaps }) => [text, gaps.map(({ match }) => match)]))
  let missed = 0
  let all = 0
  for (const { text, gaps, edges } of short.lists) {
    const longer = byText.get(text) ?? []
    const [first, last] = [longer[0], longer.at(-1)]
    all += longer.length
    missed += gaps.filter(({ match: { start } }, i) => {
      const isWithin = first !== undefined && start > first.start && start < last!.start
      return isWithin && edges[i] && !longer.some((match) => match.start <= start && start < match.end)
    }).length
  }
  return missed <= tolerated * all && long.lists.length >= 0.9 * short.lists.length
}

/** Removes characters at its ends that documents are full of, such as a full stop: other documents end without one. */
function trim(judged: JudgedGap, texts: readonly string[]): JudgedGap {
  const contents = judged.lists.flatMap((list) => list.contents)
  const isOrdinary = (character: string): boolean =>
    contents.filter((content) => content.includes(character)).length >= ordinary * contents.length
  const canGo = (character: string, rest: string): boolean =>
    rest.length >= 2 && isClean(rest) && character.trim() !== '' && isOrdinary(character) && isMark(rest)
  let best = judged
  for (const side of ['left', 'right'])
    for (let i = 0; i < mostTrimmed; i++) {
      const { pattern, kept } = best.gap
      const [character, rest] =
        side === 'left' ? [pattern[0]!, pattern.slice(1)] : [pattern.at(-1)!, pattern.slice(0, -1)]
      const shorter = canGo(character, rest) ? judgeGap(rest, texts) : undefined
      if (shorter === undefined || shorter.edgeCount < best.edgeCount || shorter.gap.kept !== kept) break
      best = shorter
    }
  return best
}

/** Different documents that have to begin, and to end, at edges before one can tell what is part of the separator. */
const fewestAlike = 12
const longestExtension = 120

/**
 * Adds to a pattern what is behind it at all edges, what is before it, or both, the most that finds as much. Undefined if
 * the edges are too few to tell: a short pattern may stand in the next document.
 */
function extend(judged: JudgedGap, texts: readonly string[]): JudgedGap | undefined {
  const { pattern } = judged.gap
  const before = new Set<string>()
  const behind = new Set<string>()
  for (const { text, gaps, edges } of judged.lists)
    for (const [i, { match }] of gaps.entries()) {
      if (!edges[i]) continue
      before.add(text.slice(Math.max(gaps[i - 1]!.match.end, match.start - longestExtension), match.start))
      behind.add(text.slice(match.end, Math.min(gaps[i + 1]!.match.start, match.end + longestExtension)))
    }
  if (Math.min(before.size, behind.size) < fewestAlike) return undefined
  const [fronts, rears] = [[...before].map(foldNumbers), [...behind].map(foldNumbers)]
  // a number at the rim may be a part of a longer one
  const left = fronts[0]!.slice(fronts[0]!.length - commonEnd(fronts)).replace(/^\0+/, '')
  const right = rears[0]!.slice(0, commonStart(rears)).replace(/\0+$/, '')
  // documents of one source begin alike, and others will not: whole lines are safer
  const leftLines = left.slice(Math.max(0, left.indexOf('\n')))
  const rightLines = right.slice(0, right.lastIndexOf('\n') + 1)
  const longer = [left, leftLines, ''].flatMap((front) => [right, rightLines, ''].map((rear) => front + pattern + rear))
  const isAsGood = (other: JudgedGap): boolean =>
    other.edgeCount >= keptByExtension * judged.edgeCount || isSafer(other, judged)
  for (const one of [...new Set(longer)].toSorted((a, b) => b.length - a.length)) {
    const other = one !== pattern && one.isWellFormed() ? judgeGap(one, texts) : undefined
    if (other && isAsGood(other)) return other
  }
  return judged
}

const fewestSamples = 3
/** Longest text next to a document that is learnt where not all before or behind it is the same. */
const longestNearest = 96
/** Longest text before or behind a list that is kept as a whole. */
const longestWhole = 20_000
/** Characters by which a document is looked up. */
const hint = 24

/**
 * What stands before the first document, or behind the last: what is left there of texts that begin or end with a document
 * known from the middle of others. Where none does, the separator may stand before the first as well, or behind the last.
 */
function learnEnd({ gap, lists, seen }: JudgedGap, side: 'open' | 'end'): TemplateEnd | undefined {
  const isOpen = side === 'open'
  const outers = lists.map(({ text, gaps }) => (isOpen ? text.slice(0, gaps[0]!.start) : text.slice(gaps.at(-1)!.end)))
  const hintOf = (text: string): string => (isOpen ? text.slice(-hint) : text.slice(0, hint))
  const known = groupBy(
    [...seen.keys()].filter(({ length }) => length >= hint),
    hintOf,
  )
  const rests = outers.flatMap((outer) => {
    const fits = (document: string): boolean => (isOpen ? outer.endsWith(document) : outer.startsWith(document))
    const [own, ...others] = known.get(hintOf(outer))?.filter(fits) ?? []
    if (own === undefined || others.length > 0) return []
    return [isOpen ? outer.slice(0, -own.length) : outer.slice(own.length)]
  })
  // numbers that count up tell where a list begins
  const isBesideGap = rests.length === 0 && !gap.numbers.includes('up')
  const beside = isBesideGap ? ({ isBesideGap } as const) : {}
  const samples = isBesideGap ? outers : rests
  if (samples.length < fewestSamples) return undefined
  const [first] = samples as [string]
  const areEqual = samples.every((sample) => sample === first)
  // nothing in another text would show where it ends
  if (areEqual && first === '' && !isOpen) return undefined
  if (areEqual && first.length <= longestWhole) return { kind: 'whole', text: first, ...beside }
  if (isBesideGap && new Set(outers).size < fewestAlike) return undefined
  const nearest = isOpen
    ? first.slice(first.length - Math.min(longestNearest, commonEnd(samples)))
    : first.slice(0, Math.min(longestNearest, commonStart(samples)))
  // not half a character
  const text = nearest.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return text.length >= 2 ? { kind: 'nearest', text, ...beside } : undefined
}

/** Share of the texts in which a part stands as often as the separator, for those in which it does not to be refused. */
const usual = 0.5
/** Share of the places of a part, beyond the separator's, that are inside of documents which came again: then it is no border. */
const explained = 1 / 3

/**
 * A beginning and an end of a separator that have to stand as often as all of it, but for those around the list. They are the
 * shortest that always did so. If even the longest did not, it may be a border that the separator misses, because it holds
 * what most documents happen to begin or end with.
 */
function checksOf(judged: JudgedGap): GapCheck[] {
  const { pattern } = judged.gap
  const cuts = Array.from({ length: pattern.length - 1 }, (_, i) => i + 1)
  return [cuts.map((cut) => pattern.slice(cut)), cuts.map((cut) => pattern.slice(0, -cut))].flatMap((parts) => {
    let check: GapCheck | undefined
    for (const part of parts.filter(isClean)) {
      const { more, share } = countMore(part, judged)
      if (share < 1) return check ?? (share >= usual && !isExplained(part, judged) ? { pattern: part, more } : [])
      check = { pattern: part, more }
    }
    return check ?? []
  })
}

/** How often more than the separator a part mostly stands in a text, and in what share of them. */
function countMore(part: string, { lists }: JudgedGap): { more: number; share: number } {
  const counts = groupBy(lists, ({ text, gaps }) => countGaps(text, part) - gaps.length)
  const [more, own] = [...counts].reduce((most, count) => (count[1].length > most[1].length ? count : most))
  return { more, share: own.length / lists.length }
}

function isExplained(part: string, { lists, seen }: JudgedGap): boolean {
  const contents = lists.flatMap((list) => list.contents)
  const within = (own: readonly string[]): number => own.reduce((sum, content) => sum + countGaps(content, part), 0)
  return within(contents.filter((content) => seen.get(content)! > 1)) >= explained * within(contents)
}

/** A number at the rim may be a part of a longer one. */
function isClean(part: string): boolean {
  return !part.startsWith(number) && !part.endsWith(number)
}
