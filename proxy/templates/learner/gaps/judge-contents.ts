import { foldNumbers } from '../learnt-template.ts'
import { countTexts } from './find-edges.ts'
import type { Gap } from './find-gaps.ts'
import { findPieces } from './find-pieces.ts'

/** A text cut at a pattern. The first and last part may hold text of the prompt beside their document. */
export interface Segments {
  readonly text: string
  readonly gaps: readonly Gap[]
  /** What is between two separators. */
  readonly contents: readonly string[]
}

const tolerated = { followed: 10, stuck: 0.15, volatile: 0.25 } as const
/** Share of the lists in which a text stands at the same end, for it to be of the prompt. */
const constantShare = 0.5
/** Characters at the beginning of a document in which a counter is looked for. */
const readForCounter = 400
/** Lists in which a number counts up inside the documents, after which it is a counter. */
const fewestCounting = 3

/** Whether each separator of a list is an edge: what is on both sides came again, but not beside each other. */
export function edgesOfLists(lists: readonly Segments[], seen: ReadonlyMap<string, number>): boolean[][] {
  const namesOf = (contents: readonly string[]): string[] =>
    contents.slice(1).map((content, i) => `${contents[i]}\0\0${content}`)
  const pairs = countTexts(lists.map(({ contents }) => namesOf(contents)))
  return lists.map(({ contents }) => [
    false,
    ...namesOf(contents).map(
      (name, i) => pairs.get(name) === 1 && seen.get(contents[i]!)! > 1 && seen.get(contents[i + 1]!)! > 1,
    ),
    false,
  ])
}

/** Whether a content has no words by which it could be known again. */
export function isBare(content: string): boolean {
  return findPieces(content).length === 0
}

/** Contents that came once, but of which a part came in other contents as well: their borders, or those others', are wrong. */
export function countBroken(lists: readonly Segments[], seen: ReadonlyMap<string, number>): number {
  const names = new Map(
    [...seen.keys()].map((content) => [
      content,
      findPieces(content)
        .slice(0, 3)
        .map(({ name }) => name),
    ]),
  )
  const holders = countTexts([...names.values()])
  const isBroken = (content: string): boolean =>
    seen.get(content) === 1 && names.get(content)!.some((name) => isShared(holders.get(name)!))
  return lists.reduce((sum, { contents }) => sum + contents.filter(isBroken).length, 0)
}

/** A piece that is in more contents than two is common wording. */
function isShared(holders: number): boolean {
  return holders === 2
}

/** Whether contents that come again always have the same one behind them, as parts of documents do. */
export function isStuck(lists: readonly Segments[]): boolean {
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
export function isVolatile(seen: ReadonlyMap<string, number>): boolean {
  const variants = countTexts([...seen.keys()].map((content) => [foldNumbers(content)]))
  const changed = [...variants.values()].filter((count) => count > 1).length
  const again = [...seen.values()].filter((count) => count > 1).length
  return changed > tolerated.volatile * (changed + again)
}

/** Whether a content stands in most lists, always first, or always last: it is of the prompt around the list. */
export function hasConstant(lists: readonly Segments[], seen: ReadonlyMap<string, number>): boolean {
  const isUsual = (content: string | undefined): boolean => seen.get(content ?? '')! >= constantShare * lists.length
  const firsts = lists.map(({ contents }) => contents[0]).filter(isUsual)
  const lasts = lists.map(({ contents }) => contents.at(-1)).filter(isUsual)
  return Math.max(firsts.length, lasts.length) >= constantShare * lists.length
}

/** Whether a number inside the documents counts up with them: it would move with its document. */
export function hasInnerCounter(lists: readonly Segments[]): boolean {
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
