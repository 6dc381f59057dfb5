import { type GapCheck, number } from '../learnt-template.ts'
import { countGaps } from './find-gaps.ts'
import type { JudgedGap } from './judge-gap.ts'

/** Share of the texts in which a part stands as often as the separator, for those in which it does not to be refused. */
const usual = 0.5
/** Share of the places of a part, beyond the separator's, that are inside of documents which came again: then it is no border. */
const explained = 1 / 3

/**
 * A beginning and an end of a separator that have to stand as often as all of it, but for those around the list. They are the
 * shortest that always did so. If even the longest did not, it may be a border that the separator misses, because it holds
 * what most documents happen to begin or end with.
 */
export function checksOf(judged: JudgedGap): GapCheck[] {
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
