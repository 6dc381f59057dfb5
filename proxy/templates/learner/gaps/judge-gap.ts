import { groupBy } from '#index/group-by.ts'
import { foldNumbers, number, type TemplateGap } from '../learnt-template.ts'
import { findGaps, type Gap } from './find-gaps.ts'
import { countTexts, findPieces, namePairs } from './read-neighbours.ts'

/** A text cut at a pattern. The first and last part may hold text of the prompt beside their document. */
interface Segments {
  readonly text: string
  readonly gaps: readonly Gap[]
  /** What is between two separators. */
  readonly contents: readonly string[]
  /** For each separator: what is on both sides came again, but not beside each other. */
  readonly edges: readonly boolean[]
}

export interface JudgedGap {
  readonly gap: TemplateGap
  readonly lists: readonly Segments[]
  /** In how many lists each content is. */
  readonly seen: ReadonlyMap<string, number>
  readonly edgeCount: number
}

type Contents = readonly (readonly string[])[]

const fewestTexts = 4
const needed = { whole: 4, bare: 0.3, wholeToBroken: 0.15 } as const
/** Share of the texts in which a number counts up, for it to be a counter. */
const counting = 0.9
const varying = 0.3

const tolerated = { followed: 10, stuck: 0.15, volatile: 0.25 } as const
/** Share of the lists in which a text stands at the same end, for it to be of the prompt. */
const constantShare = 0.5
/** Characters at the beginning of a document in which a counter is looked for. */
const readForCounter = 400
/** Lists in which a number counts up inside the documents, after which it is a counter. */
const fewestCounting = 3

/** Judges what may be a separator by what comes back whole between two of them; undefined if it is none. */
export function judgeGap(pattern: string, texts: readonly string[]): JudgedGap | undefined {
  return readings(pattern, texts)
    .map((gap) => judgeReading(gap, texts))
    .filter((judged) => judged !== undefined)
    .toSorted(byEdges)[0]
}

/** Those of most edges first. */
export function byEdges(a: JudgedGap, b: JudgedGap): number {
  return b.edgeCount - a.edgeCount
}

/** How a pattern may be read: a number that varies belongs to the document behind it, or before it. */
function readings(pattern: string, texts: readonly string[]): TemplateGap[] {
  const lists = texts
    .map((text) => ({ text, gaps: findGaps(text, { pattern, numbers: [], kept: 'all' }) }))
    .filter(({ gaps }) => gaps.length >= 2)
  const [begin] = lists
  if (begin === undefined || lists.length < Math.min(fewestTexts, texts.length)) return []
  const first = begin.gaps[0]!.numbers
  const kinds = first.map((_, i) => kindOf(lists.map(({ gaps }) => gaps.map(({ numbers }) => numbers[i]!))))
  const constant = kinds.indexOf('same')
  if (constant >= 0) {
    // one that is the same everywhere is text like any other: with another one, it is another template
    const digits = lists.flatMap(({ text, gaps }) =>
      gaps.map(({ places }) => text.slice(places[constant]!.start, places[constant]!.end)),
    )
    let at = 0
    const read = pattern.replaceAll(number, () => (at++ === constant ? digits[0]! : number))
    return new Set(digits).size === 1 ? readings(read, texts) : []
  }
  const numbers = kinds.filter((kind) => kind !== undefined && kind !== 'same')
  const isSame = numbers.every(
    (kind, i) => kind !== 'up' || lists.every(({ gaps }) => gaps[0]!.numbers[i] === first[i]),
  )
  const varied = numbers.filter((kind) => kind === 'varied').length
  if (numbers.length < kinds.length || !isSame || varied > 1) return []
  const gap = { pattern, numbers, first: numbers.map((kind, i) => (kind === 'up' ? first[i]! : 0)), checks: [] }
  const sides = varied === 0 ? (['all'] as const) : (['before', 'behind'] as const)
  return sides.map((kept) => ({ ...gap, kept }))
}

/** What the values of a number say, list by list; undefined if they are of two kinds. */
function kindOf(lists: readonly (readonly number[])[]): 'up' | 'same' | 'varied' | undefined {
  const isCounting = (values: readonly number[]): boolean =>
    values.every((value, i) => i === 0 || value === values[i - 1]! + 1)
  const up = lists.filter(isCounting).length
  const same = lists.filter((values) => new Set(values).size === 1).length
  if (up >= counting * lists.length) return 'up'
  if (same === lists.length) return 'same'
  return lists.length - up - same >= varying * lists.length ? 'varied' : undefined
}

function judgeReading(gap: TemplateGap, texts: readonly string[]): JudgedGap | undefined {
  const cuts = texts.map((text) => ({ text, gaps: findGaps(text, gap) })).filter(({ gaps }) => gaps.length >= 2)
  const lists = cuts.map(({ text, gaps }) => gaps.slice(1).map(({ start }, i) => text.slice(gaps[i]!.end, start)))
  const seen = countTexts(lists)
  const isAgain = (content: string): boolean => seen.get(content)! > 1
  const contents = lists.flat()
  const whole = contents.filter(isAgain).length - [...seen.keys()].filter(isAgain).length
  if (whole < needed.whole || whole < needed.wholeToBroken * countBroken(lists, seen)) return undefined
  // without words they could not be known again
  const bare = contents.filter((content) => findPieces(content).length === 0)
  if (bare.length >= needed.bare * contents.length) return undefined
  if (isStuck(lists) || isVolatile(seen) || hasInnerCounter(lists) || hasConstant(lists, seen)) return undefined
  const pairs = countTexts(lists.map(namePairs))
  const edgesOf = (own: readonly string[]): boolean[] =>
    namePairs(own).map((pair, i) => pairs.get(pair) === 1 && isAgain(own[i]!) && isAgain(own[i + 1]!))
  const judged = cuts.map((cut, n) => ({ ...cut, contents: lists[n]!, edges: [false, ...edgesOf(lists[n]!), false] }))
  return { gap, lists: judged, seen, edgeCount: judged.flatMap(({ edges }) => edges).filter(Boolean).length }
}

/** Contents that came once, but of which a part came in other contents as well: their borders, or those others', are wrong. */
function countBroken(lists: Contents, seen: ReadonlyMap<string, number>): number {
  const namesOf = (content: string): string[] => findPieces(content).map(({ name }) => name)
  const names = new Map([...seen.keys()].map((content) => [content, namesOf(content).slice(0, 3)]))
  const holders = countTexts([...names.values()])
  // a piece that is in more contents than two is common wording
  const isBroken = (content: string): boolean =>
    seen.get(content) === 1 && names.get(content)!.some((name) => holders.get(name) === 2)
  return lists.flat().filter(isBroken).length
}

/** Whether contents that come again always have the same one behind them, as parts of documents do. */
function isStuck(lists: Contents): boolean {
  const places = lists.flatMap((contents) => {
    const folded = contents.map(foldNumbers)
    // at the end of the list, each time is another one
    return folded.map((content, i) => ({ content, next: folded[i + 1] ?? Symbol() }))
  })
  const followed = [...groupBy(places, ({ content }) => content).values()].filter(({ length }) => length >= 2)
  const stuck = followed.filter((own) => new Set(own.map(({ next }) => next)).size === 1).length
  return followed.length < tolerated.followed || (stuck + 2) / (followed.length + 4) > tolerated.stuck
}

/** Whether contents come again with other numbers, such as scores: then hardly one is ever the same. */
function isVolatile(seen: ReadonlyMap<string, number>): boolean {
  const variants = countTexts([...seen.keys()].map((content) => [foldNumbers(content)]))
  const [changed, again] = [variants, seen].map((counts) => [...counts.values()].filter((count) => count > 1).length)
  return changed! > tolerated.volatile * (changed! + again!)
}

/** Whether a content stands in most lists, always first, or always last: it is of the prompt around the list. */
function hasConstant(lists: Contents, seen: ReadonlyMap<string, number>): boolean {
  const fewest = constantShare * lists.length
  return [0, -1].some((at) => lists.filter((contents) => seen.get(contents.at(at)!)! >= fewest).length >= fewest)
}

/** Whether a number inside the documents counts up with them: it would move with its document. */
function hasInnerCounter(lists: Contents): boolean {
  const everywhere = lists
    .filter(({ length }) => length >= 4)
    .map((contents) => {
      const [first, ...others] = contents.map(counterNames)
      return [...first!].filter((name) => others.every((names) => names.has(name)))
    })
  return [...countTexts(everywhere).values()].some((count) => count >= fewestCounting)
}

/** Names of the numbers of a content: what each would be in the first document, and what stands beside it. */
function counterNames(content: string, place: number): Set<string> {
  const names = new Set<string>()
  for (const { 0: digits, index } of content.slice(0, readForCounter).matchAll(/\d+/g)) {
    const before = content.slice(Math.max(0, index - 6), index)
    const behind = content.slice(index + digits.length, index + digits.length + 2)
    names.add(JSON.stringify([Number(digits) - place, before, behind]))
  }
  return names
}
