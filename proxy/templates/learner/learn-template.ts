import { commonEnd, commonStart } from '#index/common-edges.ts'
import { groupBy } from '#index/group-by.ts'
import { type StudiedText, studyTexts } from './gaps/find-edges.ts'
import { countGaps } from './gaps/find-gaps.ts'

import { type JudgedGap, judgeGap, type Segments } from './gaps/judge-gap.ts'
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

const fewestSamples = 3
/** Longest text next to a document that is learnt where not all before or behind it is the same. */
const longestNearest = 96
/** Longest text before or behind a list that is kept as a whole. */
const longestWhole = 20_000
/** Characters by which a document is looked up. */
const hint = 24

/**
 * What stands before the first document and behind the last: what is left there of texts that begin or end with a document
 * known from the middle of others.
 */
function learnEnds(
  lists: readonly Segments[],
  seen: ReadonlyMap<string, number>,
): Pick<LearntTemplate, 'open' | 'end'> {
  const documents = [...seen.keys()].filter((content) => content.length >= hint)
  const byBegin = groupBy(documents, (content) => content.slice(0, hint))
  const byEnd = groupBy(documents, (content) => content.slice(-hint))
  const opens = lists.flatMap(({ text, gaps }) => {
    const first = text.slice(0, gaps[0]!.start)
    const own = byEnd.get(first.slice(-hint))?.filter((content) => first.endsWith(content)) ?? []
    return own.length === 1 ? [first.slice(0, first.length - own[0]!.length)] : []
  })
  const ends = lists.flatMap(({ text, gaps }) => {
    const last = text.slice(gaps.at(-1)!.end)
    const own = byBegin.get(last.slice(0, hint))?.filter((content) => last.startsWith(content)) ?? []
    return own.length === 1 ? [last.slice(own[0]!.length)] : []
  })
  return { open: endOf(opens, 'open'), end: endOf(ends, 'end') }
}

function endOf(samples: readonly string[], side: 'open' | 'end'): TemplateEnd | undefined {
  if (samples.length < fewestSamples) return undefined
  const [first] = samples as [string]
  if (samples.every((sample) => sample === first) && first.length <= longestWhole) return { kind: 'whole', text: first }
  const nearest =
    side === 'open'
      ? first.slice(first.length - Math.min(longestNearest, commonEnd(samples)))
      : first.slice(0, Math.min(longestNearest, commonStart(samples)))
  // not half a character
  const text = nearest.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return text.length >= 2 ? { kind: 'nearest', text } : undefined
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
  const counts = new Map<number, number>()
  for (const { text, gaps } of lists) {
    const more = countGaps(text, part) - gaps.length
    counts.set(more, (counts.get(more) ?? 0) + 1)
  }
  const [more, texts] = [...counts].reduce((most, count) => (count[1] > most[1] ? count : most))
  return { more, share: texts / lists.length }
}

function isExplained(part: string, { lists, seen }: JudgedGap): boolean {
  let within = 0
  let again = 0
  for (const content of lists.flatMap(({ contents }) => contents)) {
    const count = countGaps(content, part)
    within += count
    if (seen.get(content)! > 1) again += count
  }
  return again >= explained * within
}

/** A number at the rim may be a part of a longer one. */
function isClean(part: string): boolean {
  return !part.startsWith(number) && !part.endsWith(number)
}

/** Different documents that have to begin, and to end, at edges before one can tell what is part of the separator. */
const fewestAlike = 12
const longestExtension = 120

/**
 * The pattern with what is behind it at all edges, with what is before it, or both: the longest first. Undefined if the
 * edges are too few to tell: a short pattern may stand in the next document.
 */
function extendGap({ gap, lists, edges }: JudgedGap): string[] | undefined {
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
