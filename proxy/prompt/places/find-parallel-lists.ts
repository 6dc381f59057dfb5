import { isKin } from '../scan/find-elements.ts'
import { isLabelNoun } from '../scan/words/read-noun.ts'

// one numbered line per block: `1: positive`, `Summary 2: …`, `Label 3 - …`
const NUMBERED = /^[ \t]*(?:[-*#>]{1,6}[ \t]*)?\**(?:(\p{L}[\p{L} ]{0,30}?)[ \t]?#?)?(\d{1,4})\**[ \t]?[:：=]/gmu
const OPENING = /<([A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>/g

// with more matches than this it is not a list parallel to the documents
const MOST = 10_000

/**
 * Returns the sizes of the lists in these words: lines of one name that count up from 1 (or 0), and elements of one
 * name. If there are equally many documents, each member belongs to one of them by position.
 */
export function findParallelLists(words: string): ReadonlySet<number> {
  const counts = new Set<number>()
  const lines = new Map<string, { next: number; count: number }>()
  for (const [, name = '', number] of matches(words, NUMBERED)) {
    // citation examples number documents too
    if (isLabelNoun(name)) continue
    const run = lines.get(name.toLowerCase())
    if (run && Number(number) === run.next) lines.set(name.toLowerCase(), { next: run.next + 1, count: run.count + 1 })
    else if (!run && Number(number) < 2) lines.set(name.toLowerCase(), { next: Number(number) + 1, count: 1 })
  }
  for (const { count } of lines.values()) counts.add(count)
  const elements = new Map<string, number>()
  for (const [, name] of matches(words, OPENING)) {
    if (!isKin(name!.toLowerCase())) elements.set(name!, (elements.get(name!) ?? 0) + 1)
  }
  for (const count of elements.values()) counts.add(count)
  counts.delete(1)
  return counts
}

function* matches(words: string, pattern: RegExp): Generator<RegExpMatchArray> {
  let count = 0
  for (const match of words.matchAll(pattern)) {
    if (++count > MOST) return
    yield match
  }
}
