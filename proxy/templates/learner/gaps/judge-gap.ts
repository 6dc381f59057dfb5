import { foldNumbers, number, type TemplateGap } from '../learnt-template.ts'
import { countTexts, findPieces, namePairs, type StudiedText } from './find-edges.ts'
import { findGaps, type Gap } from './find-gaps.ts'

/** A text cut at a pattern. The first and last part may hold text of the prompt beside their document. */
export interface Segments {
  readonly text: string
  readonly gaps: readonly Gap[]
  /** What is between two separators. */
  readonly contents: readonly string[]
}

export interface JudgedGap {
  readonly gap: TemplateGap
  readonly lists: readonly Segments[]
  readonly seen: ReadonlyMap<string, number>
  /** For each separator of each list: what is on both sides came again, but not beside each other. */
  readonly edges: readonly (readonly boolean[])[]
  readonly edgeCount: number
}

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
export function judgeGap(pattern: string, studied: readonly StudiedText[]): JudgedGap | undefined {
  return readings(pattern, studied)
    .map((gap) => judgeReading(gap, studied))
    .filter((judged) => judged !== undefined)
    .toSorted((a, b) => b.edgeCount - a.edgeCount)[0]
}

/** How a pattern may be read: a number that varies belongs to the document behind it, or before it. */
function readings(pattern: string, studied: readonly StudiedText[]): TemplateGap[] {
  const count = pattern.split(number).length - 1
  const unread = { pattern, numbers: [], kept: 'all' } as const
  const texts = studied
    .map(({ text }) => ({ text, gaps: findGaps(text, unread) }))
    .filter(({ gaps }) => gaps.length >= 2)
  if (texts.length < Math.min(fewestTexts, studied.length)) return []
  const lists = texts.map(({ gaps }) => gaps)
  const kinds = Array.from({ length: count }, (_, i) => kindOf(lists.map((gaps) => gaps.map((gap) => gap.numbers[i]!))))
  const constant = kinds.indexOf('same')
  if (constant >= 0) {
    // one that is the same everywhere is text like any other: with another one, it is another template
    const digits = new Set(texts.flatMap(({ text, gaps }) => gaps.map((gap) => digitsAt(text, gap, constant))))
    return digits.size === 1 ? readings(withDigits(pattern, constant, [...digits][0]!), studied) : []
  }
  if (kinds.some((kind) => kind === undefined)) return []
  const known = kinds as TemplateGap['numbers']
  const first = lists[0]![0]!.numbers
  const isSame = known.every((kind, i) => kind !== 'up' || lists.every(([gap]) => gap!.numbers[i] === first[i]))
  if (!isSame) return []
  const gap = { pattern, numbers: known, first: known.map((kind, i) => (kind === 'up' ? first[i]! : 0)), checks: [] }
  const varied = known.filter((kind) => kind === 'varied').length
  if (varied === 0) return [{ ...gap, kept: 'all' }]
  if (varied > 1) return []
  return (['before', 'behind'] as const).map((kept) => ({ ...gap, kept }))
}

function digitsAt(text: string, { places }: Gap, index: number): string {
  return text.slice(places[index]!.start, places[index]!.end)
}

function withDigits(pattern: string, index: number, digits: string): string {
  const parts = pattern.split(number)
  const [front, behind] = [parts.slice(0, index + 1), parts.slice(index + 1)]
  return front.join(number) + digits + behind.join(number)
}

/** What the values of a number say, list by list; undefined if they are of two kinds. */
function kindOf(lists: readonly (readonly number[])[]): 'up' | 'same' | 'varied' | undefined {
  const up = lists.filter((values) => isCounting(values)).length
  const same = lists.filter((values) => new Set(values).size === 1).length
  if (up >= counting * lists.length) return 'up'
  if (same === lists.length) return 'same'
  return lists.length - up - same >= varying * lists.length ? 'varied' : undefined
}

function isCounting(values: readonly number[]): boolean {
  return values.slice(1).every((value, i) => value === values[i]! + 1)
}

function judgeReading(gap: TemplateGap, studied: readonly StudiedText[]): JudgedGap | undefined {
  const lists = studied.map(({ text }) => segment(text, gap)).filter(({ gaps }) => gaps.length >= 2)
  const seen = countTexts(lists.map((own) => own.contents))
  const contents = lists.flatMap(({ contents }) => contents)
  const whole =
    contents.filter((content) => seen.get(content)! > 1).length - [...seen.values()].filter((count) => count > 1).length
  if (whole < needed.whole || whole < needed.wholeToBroken * countBroken(lists, seen)) return undefined
  // without words they could not be known again
  const bare = contents.filter((content) => findPieces(content).length === 0)
  if (bare.length >= needed.bare * contents.length) return undefined
  if (isStuck(lists) || isVolatile(seen) || hasInnerCounter(lists) || hasConstant(lists, seen)) return undefined
  const edges = edgesOfLists(lists, seen)
  return { gap, lists, seen, edges, edgeCount: edges.flat().filter(Boolean).length }
}

function segment(text: string, gap: TemplateGap): Segments {
  const gaps = findGaps(text, gap)
  return { text, gaps, contents: gaps.slice(1).map(({ start }, i) => text.slice(gaps[i]!.end, start)) }
}

/** Whether each separator of a list is an edge: what is on both sides came again, but not beside each other. */
function edgesOfLists(lists: readonly Segments[], seen: ReadonlyMap<string, number>): boolean[][] {
  const pairs = countTexts(lists.map(({ contents }) => namePairs(contents)))
  return lists.map(({ contents }) => [
    false,
    ...namePairs(contents).map(
      (name, i) => pairs.get(name) === 1 && seen.get(contents[i]!)! > 1 && seen.get(contents[i + 1]!)! > 1,
    ),
    false,
  ])
}

/** Contents that came once, but of which a part came in other contents as well: their borders, or those others', are wrong. */
function countBroken(lists: readonly Segments[], seen: ReadonlyMap<string, number>): number {
  const names = new Map(
    [...seen.keys()].map((content) => [
      content,
      findPieces(content)
        .slice(0, 3)
        .map(({ name }) => name),
    ]),
  )
  const holders = countTexts([...names.values()])
  // a piece that is in more contents than two is common wording
  const isBroken = (content: string): boolean =>
    seen.get(content) === 1 && names.get(content)!.some((name) => holders.get(name) === 2)
  return lists.reduce((sum, { contents }) => sum + contents.filter(isBroken).length, 0)
}

/** Whether contents that come again always have the same one behind them, as parts of documents do. */
function isStuck(lists: readonly Segments[]): boolean {
  const followers = new Map<string, { times: number; names: Set<string> }>()
  for (const { contents } of lists) {
    const folded = contents.map(foldNumbers)
    folded.forEach((content, i) => {
      const known = followers.get(content) ?? { times: 0, names: new Set() }
      known.times++
      // at the end of the list, each time is another one
      known.names.add(folded[i + 1] ?? `\u0001${known.times}`)
      followers.set(content, known)
    })
  }
  const followed = [...followers.values()].filter(({ times }) => times >= 2)
  const stuck = followed.filter(({ names }) => names.size === 1).length
  return followed.length < tolerated.followed || (stuck + 2) / (followed.length + 4) > tolerated.stuck
}

/** Whether contents come again with other numbers, such as scores: then hardly one is ever the same. */
function isVolatile(seen: ReadonlyMap<string, number>): boolean {
  const variants = countTexts([...seen.keys()].map((content) => [foldNumbers(content)]))
  const changed = [...variants.values()].filter((count) => count > 1).length
  const again = [...seen.values()].filter((count) => count > 1).length
  return changed > tolerated.volatile * (changed + again)
}

/** Whether a content stands in most lists, always first, or always last: it is of the prompt around the list. */
function hasConstant(lists: readonly Segments[], seen: ReadonlyMap<string, number>): boolean {
  const isUsual = (content: string | undefined): boolean => seen.get(content ?? '')! >= constantShare * lists.length
  const firsts = lists.map(({ contents }) => contents[0]).filter(isUsual)
  const lasts = lists.map(({ contents }) => contents.at(-1)).filter(isUsual)
  return Math.max(firsts.length, lasts.length) >= constantShare * lists.length
}

/** Whether a number inside the documents counts up with them: it would move with its document. */
function hasInnerCounter(lists: readonly Segments[]): boolean {
  const everywhere = lists.flatMap(({ contents }) => {
    if (contents.length < 4) return []
    const own = contents.map((content, i) => counterNames(content, i))
    return [[...own[0]!].filter((name) => own.every((names) => names.has(name)))]
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
